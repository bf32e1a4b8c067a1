//! What clients speak: HTTP with JSON, the protocol of Redis, and that of PostgreSQL, as far as needed.

use std::io::{self, BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use crate::clients::Answer;

/// How long a client waits for an answer.
pub const TIMEOUT: Duration = Duration::from_millis(1500);

fn connect(address: &str) -> io::Result<TcpStream> {
    let address = address
        .parse()
        .map_err(|_| Error::from(ErrorKind::InvalidInput))?;
    let stream = TcpStream::connect_timeout(&address, Duration::from_millis(500))?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn malformed(what: &str) -> Error {
    Error::new(
        ErrorKind::InvalidData,
        format!("the server answers something else: {what}"),
    )
}

/// Sends a document to a server, on a connection of its own. Any answer but 200 leaves open what happened.
pub fn post(address: &str, path: &str, body: &Value) -> Answer<Value> {
    let Ok(mut stream) = connect(address) else {
        return Answer::Failed;
    };
    let mut exchange = || -> io::Result<Option<Value>> {
        let body = body.to_string();
        let head = format!(
            "POST {path} HTTP/1.0\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes())?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let (head, body) = text
            .split_once("\r\n\r\n")
            .ok_or_else(|| malformed("no HTTP"))?;
        let is_ok = head.split(' ').nth(1) == Some("200");
        Ok(is_ok.then(|| serde_json::from_str(body)).transpose()?)
    };
    match exchange() {
        Ok(Some(value)) => Answer::Returned(value),
        Ok(None) | Err(_) => Answer::Unknown,
    }
}

/// An answer of Redis.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    Nil,
    Int(i64),
    Text(String),
    List(Vec<Reply>),
    Error(String),
}

impl Reply {
    pub fn int(&self) -> Option<i64> {
        match self {
            Reply::Int(value) => Some(*value),
            Reply::Text(text) => text.parse().ok(),
            _ => None,
        }
    }
}

/// A connection to Redis, which is made when it is needed.
#[derive(Default)]
pub struct Redis {
    connection: Option<(String, BufReader<TcpStream>)>,
}

impl Redis {
    /// Asks the server at this address. An answer that is an error means that the command did nothing.
    pub fn ask(&mut self, address: &str, words: &[&str]) -> Answer<Reply> {
        if self
            .connection
            .as_ref()
            .is_none_or(|(connected, _)| connected != address)
        {
            self.connection = match connect(address) {
                Ok(stream) => Some((address.to_owned(), BufReader::new(stream))),
                Err(_) => return Answer::Failed,
            };
        }
        match self.exchange(words) {
            Ok(Reply::Error(_)) => Answer::Failed,
            Ok(reply) => Answer::Returned(reply),
            Err(_) => {
                // What comes later on this connection would answer this request.
                self.connection = None;
                Answer::Unknown
            }
        }
    }

    fn exchange(&mut self, words: &[&str]) -> io::Result<Reply> {
        let (_, stream) = self.connection.as_mut().ok_or(ErrorKind::NotConnected)?;
        let mut request = format!("*{}\r\n", words.len());
        for word in words {
            request += &format!("${}\r\n{word}\r\n", word.len());
        }
        stream.get_mut().write_all(request.as_bytes())?;
        reply(stream)
    }
}

fn reply(stream: &mut BufReader<TcpStream>) -> io::Result<Reply> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let line = line.strip_suffix("\r\n").ok_or(ErrorKind::UnexpectedEof)?;
    let (kind, rest) = line
        .split_at_checked(1)
        .ok_or_else(|| malformed("an empty line"))?;
    let number = || rest.parse::<i64>().map_err(|_| malformed(line));
    Ok(match kind {
        "+" => Reply::Text(rest.to_owned()),
        "-" => Reply::Error(rest.to_owned()),
        ":" => Reply::Int(number()?),
        "$" if number()? < 0 => Reply::Nil,
        "$" => {
            let mut text = vec![0; number()? as usize + 2];
            stream.read_exact(&mut text)?;
            text.truncate(text.len() - 2);
            Reply::Text(String::from_utf8_lossy(&text).into_owned())
        }
        "*" if number()? < 0 => Reply::Nil,
        "*" => Reply::List(
            (0..number()?)
                .map(|_| reply(stream))
                .collect::<io::Result<_>>()?,
        ),
        _ => return Err(malformed(line)),
    })
}

/// A connection to PostgreSQL, by its simple protocol and without a password.
pub struct Postgres(BufReader<TcpStream>);

/// What a statement answered.
pub enum Rows {
    /// The rows, with the fields as text.
    Rows(Vec<Vec<Option<String>>>),
    /// The statement was refused, with this SQLSTATE.
    Refused(String),
}

impl Postgres {
    pub fn connect(address: &str, user: &str, database: &str) -> io::Result<Self> {
        let mut stream = connect(address)?;
        let mut body = 196_608_i32.to_be_bytes().to_vec();
        for word in ["user", user, "database", database] {
            body.extend_from_slice(word.as_bytes());
            body.push(0);
        }
        body.push(0);
        stream.write_all(&(body.len() as i32 + 4).to_be_bytes())?;
        stream.write_all(&body)?;
        let mut connection = Postgres(BufReader::new(stream));
        match connection.answer()? {
            Rows::Rows(_) => Ok(connection),
            Rows::Refused(state) => Err(malformed(&state)),
        }
    }

    /// Runs one statement.
    pub fn query(&mut self, statement: &str) -> io::Result<Rows> {
        let mut message = vec![b'Q'];
        message.extend_from_slice(&(statement.len() as i32 + 5).to_be_bytes());
        message.extend_from_slice(statement.as_bytes());
        message.push(0);
        self.0.get_mut().write_all(&message)?;
        self.answer()
    }

    /// Reads messages until the server is ready for the next statement.
    fn answer(&mut self) -> io::Result<Rows> {
        let (mut rows, mut refused) = (Vec::new(), None);
        loop {
            let mut head = [0; 5];
            self.0.read_exact(&mut head)?;
            let length = i32::from_be_bytes([head[1], head[2], head[3], head[4]]);
            let mut body = vec![0; usize::try_from(length - 4).map_err(|_| malformed("a length"))?];
            self.0.read_exact(&mut body)?;
            match head[0] {
                b'D' => rows.push(fields(&body).ok_or_else(|| malformed("a row"))?),
                b'E' => refused = Some(sql_state(&body)),
                // A server that ends says so before it closes the connection.
                b'Z' => return Ok(refused.map_or(Rows::Rows(rows), Rows::Refused)),
                b'R' if body
                    .first_chunk()
                    .is_none_or(|kind: &[u8; 4]| *kind != [0; 4]) =>
                {
                    return Err(malformed("it wants a password"));
                }
                _ => {}
            }
        }
    }
}

/// The fields of a row.
fn fields(body: &[u8]) -> Option<Vec<Option<String>>> {
    let (count, mut rest) = body.split_first_chunk::<2>()?;
    let mut fields = Vec::new();
    for _ in 0..i16::from_be_bytes(*count) {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
            fields.push(None);
            rest = after;
            continue;
        };
        let (text, after) = after.split_at_checked(length)?;
        fields.push(Some(String::from_utf8_lossy(text).into_owned()));
        rest = after;
    }
    Some(fields)
}

/// The SQLSTATE in a message of an error.
fn sql_state(body: &[u8]) -> String {
    let parts = body.split(|byte| *byte == 0);
    let state = parts
        .filter_map(|part| part.split_first())
        .find(|(kind, _)| **kind == b'C');
    state.map_or_else(String::new, |(_, state)| {
        String::from_utf8_lossy(state).into_owned()
    })
}
