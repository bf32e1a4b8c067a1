//! A browser without a window, driven through its DevTools protocol.

use std::io::Read;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket};

/// How long anything on a page may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Finds Chromium, or installs Debian's; if neither can be done, why.
pub(crate) fn find() -> Result<PathBuf, String> {
    const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let on_path = || {
        let path = std::env::var_os("PATH")?;
        let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let named = |name: &str| folders.iter().map(|f| f.join(name)).find(|f| f.is_file());
        NAMES.iter().find_map(|name| named(name))
    };
    if let Some(found) = on_path() {
        return Ok(found);
    }
    eprintln!("no Chromium is installed: trying apt-get install chromium");
    let install = "export DEBIAN_FRONTEND=noninteractive; \
        apt-get install -y --no-install-recommends chromium || \
        (apt-get update && apt-get install -y --no-install-recommends chromium)";
    let output = Command::new("sh").args(["-c", install]).output();
    let output = output.map_err(|error| format!("sh cannot be run: {error}"))?;
    on_path().ok_or_else(|| {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or_default();
        format!("Chromium is not installed and cannot be: {last}")
    })
}

/// A browser, with one page open. It ends when this is dropped.
pub(crate) struct Browser {
    process: Child,
    profile: PathBuf,
    socket: WebSocket<MaybeTlsStream<TcpStream>>,
    session: String,
    next_id: u64,
    /// What the page complained about since it was opened.
    complaints: Vec<String>,
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Nothing more can be done about a process that is gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

impl Browser {
    pub(crate) fn start(program: &Path) -> Self {
        let profile = std::env::temp_dir().join(format!("linpoint-browser-{}", std::process::id()));
        std::fs::create_dir_all(&profile).expect("a folder for the browser");
        let process = Command::new(program)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
            ])
            .args([
                "--no-first-run",
                "--disable-extensions",
                "--disable-background-networking",
            ])
            .args(["--disable-dev-shm-usage", "--remote-debugging-port=0"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the browser starts");
        let address = wait_for(|| {
            let mut text = String::new();
            let file = std::fs::File::open(profile.join("DevToolsActivePort"));
            file.ok()?.read_to_string(&mut text).ok()?;
            let (port, path) = text.split_once('\n')?;
            (!path.is_empty()).then(|| format!("ws://127.0.0.1:{port}{}", path.trim()))
        });
        let (socket, _) = tungstenite::connect(address).expect("the browser listens");
        let mut browser = Browser {
            process,
            profile,
            socket,
            session: String::new(),
            next_id: 0,
            complaints: Vec::new(),
        };
        let target = browser.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.ask("Target.attachToTarget", attach);
        browser.session = attached["sessionId"]
            .as_str()
            .expect("a session")
            .to_owned();
        for domain in ["Page", "Runtime", "Log"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        browser.resize(1440, 1000);
        browser
    }

    /// Asks for something, and waits for the answer.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let sent = self.socket.send(Message::text(message.to_string()));
        sent.expect("the browser still listens");
        loop {
            let message = self.socket.read().expect("the browser still answers");
            let Message::Text(text) = message else {
                continue;
            };
            let mut message: Value = serde_json::from_str(&text).expect("JSON");
            if message["id"] == id {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].take();
            }
            self.hear(&message);
        }
    }

    /// Notes what should not be: errors, warnings, exceptions.
    fn hear(&mut self, event: &Value) {
        let params = &event["params"];
        let is_complaint = match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => {
                matches!(
                    params["type"].as_str(),
                    Some("error" | "warning" | "assert")
                )
            }
            Some("Log.entryAdded") => {
                matches!(params["entry"]["level"].as_str(), Some("error" | "warning"))
            }
            _ => false,
        };
        if is_complaint {
            self.complaints.push(params.to_string());
        }
    }

    /// What the page complained about since it was opened.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        self.evaluate("0");
        std::mem::take(&mut self.complaints)
    }

    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", size);
    }

    /// Light or dark, screen or print.
    pub(crate) fn appear(&mut self, media: &str, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.ask(
            "Emulation.setEmulatedMedia",
            json!({ "media": media, "features": features }),
        );
    }

    /// Opens a file, and waits until `ready` holds; how long that took.
    pub(crate) fn open(&mut self, file: &Path, ready: &str) -> Duration {
        self.ask("Page.navigate", json!({ "url": "about:blank" }));
        self.complaints.clear();
        let started = Instant::now();
        self.ask(
            "Page.navigate",
            json!({ "url": format!("file://{}", file.display()) }),
        );
        // The page itself tells, so that the test does not wait for an answer that came before.
        let wait = format!(
            "new Promise((done) => {{ const look = () => (({ready}) ? done(true) : setTimeout(look, 2)); look(); }})"
        );
        self.evaluate(&wait);
        started.elapsed()
    }

    /// The value of an expression on the page, once it is known.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let params = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true,
            "timeout": PATIENCE.as_millis() as u64,
        });
        let mut answer = self.ask("Runtime.evaluate", params);
        let exception = &answer["exceptionDetails"];
        assert!(exception.is_null(), "{expression}: {exception}");
        answer["result"]["value"].take()
    }

    /// The text of an expression on the page.
    pub(crate) fn text(&mut self, expression: &str) -> String {
        let value = self.evaluate(expression);
        value
            .as_str()
            .unwrap_or_else(|| panic!("{expression} is {value}"))
            .to_owned()
    }

    /// Waits until something holds.
    pub(crate) fn wait_until(&mut self, condition: &str) {
        let started = Instant::now();
        while self.evaluate(condition) != json!(true) {
            assert!(started.elapsed() < PATIENCE, "never: {condition}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until what was asked for is drawn.
    pub(crate) fn settle(&mut self) {
        let twice = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))";
        self.evaluate(twice);
    }

    /// Presses a key.
    pub(crate) fn press(&mut self, key: &str) {
        let is_text = key.chars().count() == 1;
        let mut down =
            json!({ "type": if is_text { "keyDown" } else { "rawKeyDown" }, "key": key });
        if is_text {
            down["text"] = json!(key);
        }
        self.ask("Input.dispatchKeyEvent", down);
        self.ask(
            "Input.dispatchKeyEvent",
            json!({ "type": "keyUp", "key": key }),
        );
        self.settle();
    }

    /// Clicks in the middle of an element.
    pub(crate) fn click(&mut self, selector: &str) {
        let middle = format!(
            "(() => {{ const e = document.querySelector('{selector}'); e.scrollIntoView({{ block: 'center' }}); \
             const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }})()"
        );
        let middle = self.evaluate(&middle);
        self.mouse("mouseMoved", &middle);
        self.mouse("mousePressed", &middle);
        self.mouse("mouseReleased", &middle);
        self.settle();
    }

    /// Moves or presses the mouse.
    pub(crate) fn mouse(&mut self, kind: &str, at: &Value) {
        let event =
            json!({ "type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1 });
        self.ask("Input.dispatchMouseEvent", event);
    }

    /// Takes a picture of the page as it is.
    pub(crate) fn picture(&mut self, file: &Path) {
        self.settle();
        let picture = self.ask("Page.captureScreenshot", json!({ "format": "png" }));
        let letters = picture["data"].as_str().expect("a picture");
        let decoded = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, letters);
        std::fs::write(file, decoded.expect("a picture")).expect("the picture can be written");
    }
}

fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "the browser does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
}
