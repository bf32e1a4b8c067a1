//! A child process that answers lines on its standard output to lines on its standard input.
//!
//! All pipes are read and written without blocking, by the thread that asks, so every wait has a deadline, whatever the
//! program does: a program that does not read, does not answer, or writes without end.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use linpoint::Limit;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::RunningChecks;

/// The longest answer, in bytes.
pub(super) const LONGEST_ANSWER: usize = 16 << 20;

/// How much of the standard error is kept, in bytes.
const KEPT_ERRORS: usize = 4 << 10;

/// How many lines of the standard error are shown.
const SHOWN_LINES: usize = 12;

/// How often a wait looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);

/// How long a program may take for its answer when the limits of all checks are hit. A program that is at work then answers, and
/// the checks end as undecided; one that hangs is ended.
const GRACE: Duration = Duration::from_millis(500);

/// How long a program may take to exit when its input is closed.
const TIME_TO_EXIT: Duration = Duration::from_millis(500);

/// How long it may take from the end of the output of a program to its exit.
const TIME_TO_STATUS: Duration = Duration::from_secs(2);

/// How long a wait is allowed to take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience<'a> {
    /// The time for one answer.
    pub(super) time: Duration,
    /// The checks that wait.
    pub(super) checks: &'a RunningChecks,
}

/// Why a program did not answer.
#[derive(Debug)]
pub(super) enum Failed {
    /// The time for an answer is over.
    Late(Duration),
    /// A limit of the check was hit.
    Limit(Limit),
    /// It exited with this status.
    Exited(i32),
    /// It was killed by this signal.
    Killed(i32),
    /// It closed its standard output, and is still running.
    Closed,
    /// It wrote a line before it had read the question.
    Early,
    /// It wrote more than [`LONGEST_ANSWER`] without an end of line.
    Long,
    /// It wrote a line that is not UTF-8.
    Bytes(String),
    /// The system failed.
    System(io::Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Failed::System(error)
    }
}

/// Which pipes have something to read, or ended.
#[derive(Clone, Copy, Debug, Default)]
struct Ready {
    stdout: bool,
    stderr: bool,
}

/// A shell that kills the process group of a program when this process ends without doing so, even by a signal.
#[derive(Debug)]
struct Guard {
    shell: Child,
}

impl Guard {
    /// Starts to guard the group of this program.
    fn start(program: &Child) -> io::Result<Self> {
        // Its input ends with this process, or else has a line.
        let script = format!("read -r line || kill -s KILL -- -{}", program.id());
        let shell = Command::new("sh")
            .arg("-c")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Guard { shell })
    }
}

/// The group is not guarded any more.
impl Drop for Guard {
    fn drop(&mut self) {
        let told = self
            .shell
            .stdin
            .take()
            .map(|mut input| input.write_all(b"end\n"));
        if !matches!(told, Some(Ok(()))) {
            // It ended already, or must not kill what it guards.
            let _ = self.shell.kill();
        }
        let _ = self.shell.wait();
    }
}

/// A running program. Dropping it ends the whole process group of the program.
#[derive(Debug)]
pub(super) struct Program {
    child: Child,
    /// `None` when the program is ended.
    guard: Option<Guard>,
    /// `None` when it is closed.
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    stderr: Option<ChildStderr>,
    /// What was read from the standard output and not yet returned as a line.
    read: Vec<u8>,
    /// How much of it is known to have no end of line.
    scanned: usize,
    /// The end of the standard error.
    errors: Vec<u8>,
}

impl Program {
    /// Starts a command of the shell, in a process group of its own.
    pub(super) fn start(command: &str) -> io::Result<Self> {
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("the shell has no pipes"));
        };
        let mut program = Program {
            child,
            guard: None,
            stdin: Some(stdin),
            stdout,
            stderr: Some(stderr),
            read: Vec::new(),
            scanned: 0,
            errors: Vec::new(),
        };
        program.guard = Some(Guard::start(&program.child)?);
        rustix::io::ioctl_fionbio(&program.stdout, true)?;
        for pipe in [
            program.stdin.as_ref().map(AsFd::as_fd),
            program.stderr.as_ref().map(AsFd::as_fd),
        ] {
            pipe.map_or(Ok(()), |pipe| rustix::io::ioctl_fionbio(pipe, true))?;
        }
        Ok(program)
    }

    /// Writes a question, which ends with its end of line, and returns the line that the program writes.
    pub(super) fn exchange(
        &mut self,
        question: &[u8],
        patience: Patience<'_>,
    ) -> Result<String, Failed> {
        let asked = Instant::now();
        let mut left = question;
        self.write(&mut left)?;
        // A line that was written too early is judged as the answer to this question.
        if let Some(line) = self.line()? {
            return Ok(line);
        }
        let mut stopped: Option<(Instant, Limit)> = None;
        loop {
            let ready = self.wait(!left.is_empty(), LOOK.min(patience.time))?;
            self.write(&mut left)?;
            if ready.stderr {
                self.read_errors();
            }
            let is_open = !ready.stdout || self.read_answer()?;
            if let Some(line) = self.line()? {
                // The line of a program that does not read any more is judged by what it says.
                return match left.is_empty() || self.stdin.is_none() {
                    true => Ok(line),
                    false => Err(Failed::Early),
                };
            }
            if !is_open {
                return Err(self.end_of_output());
            }
            if self.read.len() > LONGEST_ANSWER {
                return Err(Failed::Long);
            }
            let now = Instant::now();
            if now - asked >= patience.time {
                return Err(Failed::Late(patience.time));
            }
            if stopped.is_none() {
                stopped = patience.checks.limit().map(|limit| (now, limit));
            }
            if let Some((since, limit)) = stopped
                && now - since >= GRACE
            {
                return Err(Failed::Limit(limit));
            }
        }
    }

    /// Waits until a pipe is ready, or until the time is over. Returns which have something to read, or ended.
    fn wait(&self, writes: bool, time: Duration) -> Result<Ready, Failed> {
        let mut pipes = vec![PollFd::new(&self.stdout, PollFlags::IN)];
        if let Some(stderr) = &self.stderr {
            pipes.push(PollFd::new(stderr, PollFlags::IN));
        }
        if let (Some(stdin), true) = (&self.stdin, writes) {
            pipes.push(PollFd::new(stdin, PollFlags::OUT));
        }
        let timeout = Timespec::try_from(time).ok();
        match poll(&mut pipes, timeout.as_ref()) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Ok(Ready::default()),
            Err(error) => return Err(Failed::System(error.into())),
        }
        let is_ready = |pipe: Option<&PollFd<'_>>| pipe.is_some_and(|it| !it.revents().is_empty());
        Ok(Ready {
            stdout: is_ready(pipes.first()),
            stderr: self.stderr.is_some() && is_ready(pipes.get(1)),
        })
    }

    /// Writes as much as the program takes now. A program that closed its standard input is about to exit: the end of its
    /// output says more.
    fn write(&mut self, left: &mut &[u8]) -> Result<(), Failed> {
        while let (Some(stdin), false) = (&mut self.stdin, left.is_empty()) {
            match stdin.write(left) {
                Ok(count) => *left = &left[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::BrokenPipe => self.stdin = None,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Reads what the standard output has now, up to the longest answer. Returns whether it is still open.
    fn read_answer(&mut self) -> Result<bool, Failed> {
        let mut bytes = [0; 8 << 10];
        while self.read.len() <= LONGEST_ANSWER {
            match self.stdout.read(&mut bytes) {
                Ok(0) => return Ok(false),
                Ok(count) => self.read.extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
            // The usual answer is short, and is all that there is.
            if bytes.len() > self.read.len() {
                break;
            }
        }
        Ok(true)
    }

    /// Reads some of what the standard error has now, and keeps the end.
    fn read_errors(&mut self) {
        let mut bytes = [0; 8 << 10];
        while let Some(stderr) = &mut self.stderr {
            match stderr.read(&mut bytes) {
                Ok(count) if count > 0 => self.errors.extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // What cannot be read is not shown.
                Ok(_) | Err(_) => self.stderr = None,
            }
            // A program that writes without end must not keep the caller here.
            if self.errors.len() > 16 * KEPT_ERRORS {
                break;
            }
        }
        let too_many = self.errors.len().saturating_sub(KEPT_ERRORS);
        self.errors.drain(..too_many);
    }

    /// The first whole line that was read, without its end.
    fn line(&mut self) -> Result<Option<String>, Failed> {
        let mut unseen = self.read[self.scanned..].iter();
        let Some(end) = unseen.position(|&byte| byte == b'\n') else {
            self.scanned = self.read.len();
            return Ok(None);
        };
        let end = self.scanned + end;
        self.scanned = 0;
        let mut line: Vec<u8> = self.read.drain(..=end).collect();
        line.pop();
        let line = String::from_utf8(line);
        line.map(Some)
            .map_err(|error| Failed::Bytes(lossy(error.as_bytes())))
    }

    /// Why the output ended: waits a little for the program to exit.
    fn end_of_output(&mut self) -> Failed {
        let end = Instant::now() + TIME_TO_STATUS;
        loop {
            self.read_errors();
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            let pid = Pid::from_child(&self.child);
            if let Ok(Some(status)) = waitid(WaitId::Pid(pid), options) {
                self.read_errors();
                match (status.exit_status(), status.terminating_signal()) {
                    (Some(status), _) => return Failed::Exited(status),
                    (_, Some(signal)) => return Failed::Killed(signal),
                    _ => {}
                }
            }
            if Instant::now() >= end {
                return Failed::Closed;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// The last lines of the standard error.
    pub(super) fn last_errors(&mut self) -> Vec<String> {
        self.read_errors();
        let text = lossy(&self.errors);
        let lines: Vec<&str> = text.lines().collect();
        let skipped = lines.len().saturating_sub(SHOWN_LINES);
        lines[skipped..].iter().map(|&line| line.into()).collect()
    }

    /// Ends the program without waiting for it to exit by itself.
    pub(super) fn kill(mut self) {
        self.stdin = None;
    }

    /// Waits a little for the program to exit by itself, since its input has ended. What it writes is not kept.
    fn wait_for_end(&mut self) {
        let end = Instant::now() + TIME_TO_EXIT;
        while Instant::now() < end {
            self.read.clear();
            self.read_errors();
            if !matches!(self.read_answer(), Ok(true)) || self.wait(false, LOOK).is_err() {
                return;
            }
        }
    }
}

/// Ends all processes of the group.
impl Drop for Program {
    fn drop(&mut self) {
        if self.stdin.take().is_some() {
            self.wait_for_end();
        }
        // The first process is not waited for yet, so the group is still the one of this program. Killing fails if there is
        // no process to be killed.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        self.guard = None;
        let _ = self.child.wait();
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
