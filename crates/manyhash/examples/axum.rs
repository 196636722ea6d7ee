//! An axum handler that answers an upload with its MD5 and SHA-256, hashed as the body arrives.
//!
//! The engine is shared by all requests: the chunks of concurrent uploads are hashed side by side. `write` waits while
//! the engine's memory is used up, and so does the client.

use axum::body::Body;
use axum::extract::State;
use axum::http::{Request, StatusCode};
use axum::{Router, routing::put};
use futures_util::StreamExt;
use manyhash::{Algorithm, Engine, digest};
use std::error::Error;
use tower::ServiceExt;

async fn upload(State(engine): State<Engine>, body: Body) -> Result<String, (StatusCode, String)> {
    let mut stream = engine.stream([Algorithm::Md5, Algorithm::Sha256]);
    let mut chunks = body.into_data_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?;
        // `Bytes` is handed over, not copied.
        stream.write(chunk).await.map_err(internal)?;
    }
    let [md5, sha256] = stream.finish().await.map_err(internal)?;
    Ok(format!("md5 {md5}\nsha256 {sha256}\n"))
}

fn internal(error: manyhash::engine::JobError) -> (StatusCode, String) {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let app = Router::new().route("/objects", put(upload)).with_state(Engine::builder().build()?);

    // In place of `axum::serve(listener, app)`: one request without a network.
    let object = vec![7; 3 << 20];
    let response = app.oneshot(Request::put("/objects").body(Body::from(object.clone()))?).await?;
    let answer = axum::body::to_bytes(response.into_body(), 1 << 10).await?;
    let answer = str::from_utf8(&answer)?;
    print!("{answer}");

    let [md5, sha256] = [Algorithm::Md5, Algorithm::Sha256].map(|algorithm| digest(algorithm, &object));
    assert_eq!(answer, format!("md5 {md5}\nsha256 {sha256}\n"));
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn Error>> {
    main()
}
