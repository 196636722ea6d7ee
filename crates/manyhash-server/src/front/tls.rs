//! Certificates.

use crate::config::{ServeError, TlsFiles};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// What answers handshakes with a certificate.
pub(crate) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, ServeError> {
    let certificates = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unusable(&files.certificate, error))?;
    if certificates.is_empty() {
        return Err(unusable(&files.certificate, "there is no certificate in it"));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| unusable(&files.key, error))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, key))
        .map_err(|error| unusable(&files.certificate, error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn unusable(path: &Path, reason: impl ToString) -> ServeError {
    ServeError::Tls { path: path.to_path_buf(), reason: reason.to_string() }
}
