//! Records clients of a service on the runtime of tokio: a register behind a socket, which answers some requests too late.
//!
//! `cargo run -p linpoint-record --example tokio_clients > history.jsonl`, and then `linpoint check history.jsonl`.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::Duration;

use linpoint_record::{Clock, Process, Recorder};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

/// Serves one client: a line with a number writes it, an empty line reads.
async fn serve(stream: TcpStream, register: Arc<AtomicI64>) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    for request in 1.. {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            break;
        }
        let answer = match line.trim().parse() {
            Ok(value) => register.swap(value, SeqCst),
            Err(_) => register.load(SeqCst),
        };
        // Every seventh request has taken effect when its client has given up.
        if request % 7 == 0 {
            sleep(Duration::from_millis(40)).await;
        }
        stream.write_all(format!("{answer}\n").as_bytes()).await?;
    }
    Ok(())
}

/// One request, and its answer.
async fn ask(stream: &mut BufReader<TcpStream>, request: &str) -> io::Result<i64> {
    stream.write_all(request.as_bytes()).await?;
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    line.trim().parse().map_err(io::Error::other)
}

async fn client(mut process: Process, address: std::net::SocketAddr, first: i64) -> io::Result<()> {
    let mut stream = BufReader::new(TcpStream::connect(address).await?);
    for value in first..first + 10 {
        let write = process.call("write", value);
        match timeout(
            Duration::from_millis(20),
            ask(&mut stream, &format!("{value}\n")),
        )
        .await
        {
            Ok(answer) => answer.map(|_| write.returned(()))?,
            // It may have happened, or will. The late answer must not be taken for that of the next request.
            Err(_) => {
                write.unknown();
                stream = BufReader::new(TcpStream::connect(address).await?);
            }
        }
        let read = process.call("read", ());
        read.returned(ask(&mut stream, "\n").await?);
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let (address, register) = (listener.local_addr()?, Arc::new(AtomicI64::new(0)));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, Arc::clone(&register)));
        }
    });
    let recorder = Recorder::in_memory(
        linpoint_record::Header::of("register").param("initial", 0),
        Clock::Time,
    );
    let clients =
        (0..4).map(|number| tokio::spawn(client(recorder.process(), address, 1 + 100 * number)));
    for client in clients.collect::<Vec<_>>() {
        client.await??;
    }
    recorder.finish()?.write(io::stdout().lock())
}
