//! Connections: pooled, HTTP/1.1, over TLS where the endpoint has it.
//!
//! The same pool serves requests for credentials, so that they trust the same certificates and one TLS library is built.

use super::config::ConfigError;
use aws_config::imds::region::ImdsRegionProvider;
use aws_config::provider_config::ProviderConfig;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{self, connect};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A body to be sent, whatever it is made of.
pub(super) type Outgoing = UnsyncBoxBody<Bytes, BoxError>;

pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// How long to wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timeouts {
    /// For a connection.
    pub(super) connect: Duration,
    /// For the next bytes, in either direction.
    pub(super) silence: Duration,
}

/// Where requests are sent by.
#[derive(Clone, Debug)]
pub(super) struct Transport {
    client: legacy::Client<HttpsConnector<connect::HttpConnector>, Outgoing>,
    pub(super) timeouts: Timeouts,
}

/// Connections are closed that were idle for so long. S3 closes them itself soon after.
const IDLE: Duration = Duration::from_secs(20);

impl Transport {
    /// Trusts the certificates of the system and those in `ca_bundle`. There must be some if `is_needed`.
    pub(super) fn new(ca_bundle: Option<&Path>, timeouts: Timeouts, is_needed: bool) -> Result<Transport, ConfigError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let tls = tls.with_root_certificates(certificates(ca_bundle, is_needed)?).with_no_client_auth();
        let mut tcp = connect::HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(timeouts.connect));
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
        let mut builder = legacy::Client::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE);
        Ok(Transport { client: builder.build(connector.wrap_connector(tcp)), timeouts })
    }

    pub(super) async fn send(&self, request: Request<Outgoing>) -> Result<Response<Incoming>, legacy::Error> {
        self.client.request(request).await
    }

    /// Asks the instance's metadata service for the region.
    pub(super) async fn instance_region(&self) -> Option<String> {
        let config = ProviderConfig::without_region().with_http_client(self.clone());
        let region = ImdsRegionProvider::builder().configure(&config).build().region().await;
        region.map(|region| region.as_ref().to_owned())
    }
}

fn certificates(ca_bundle: Option<&Path>, is_needed: bool) -> Result<RootCertStore, ConfigError> {
    let mut roots = RootCertStore::empty();
    let system = rustls_native_certs::load_native_certs();
    // Systems carry certificates that rustls does not take, such as those with negative serial numbers.
    roots.add_parsable_certificates(system.certs);
    if let Some(path) = ca_bundle {
        let error = |reason: String| ConfigError::CaBundle { path: path.to_owned(), reason };
        let pem = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let pem = pem.map_err(|cause| error(format!("cannot read certificates: {cause}")))?;
        if pem.is_empty() {
            return Err(error("has no certificates: it should be PEM".to_owned()));
        }
        for certificate in pem {
            roots.add(certificate).map_err(|cause| error(format!("has a certificate of no use: {cause}")))?;
        }
    }
    if is_needed && roots.is_empty() {
        let reason = system.errors.first().map_or_else(|| "none found".to_owned(), ToString::to_string);
        return Err(ConfigError::NoCertificates { reason });
    }
    Ok(roots)
}

/// What AWS's library sends requests for credentials by.
impl HttpClient for Transport {
    fn http_connector(&self, settings: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        let limits = [settings.connect_timeout(), settings.read_timeout()];
        // The pool's own limits are for another kind of service: an instance's metadata is near, or not there.
        let limit = limits.into_iter().flatten().reduce(|sum, limit| sum + limit);
        SharedHttpConnector::new(Connector { transport: self.clone(), limit: limit.unwrap_or(self.timeouts.silence) })
    }
}

#[derive(Debug)]
struct Connector {
    transport: Transport,
    limit: Duration,
}

#[derive(Debug, thiserror::Error)]
#[error("no answer within {0:?}")]
struct NoAnswer(Duration);

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let (transport, limit) = (self.transport.clone(), self.limit);
        HttpConnectorFuture::new(async move {
            let request = request.try_into_http1x().map_err(|error| ConnectorError::user(error.into()))?;
            let request = request.map(|body: SdkBody| body.boxed_unsync());
            let answer = tokio::time::timeout(limit, transport.send(request)).await;
            let answer = answer.map_err(|_| ConnectorError::timeout(NoAnswer(limit).into()))?;
            let answer = answer.map_err(|error| ConnectorError::io(error.into()))?;
            let answer = answer.map(SdkBody::from_body_1_x);
            HttpResponse::try_from(answer).map_err(|error| ConnectorError::other(error.into(), None))
        })
    }
}
