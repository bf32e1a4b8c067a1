//! The files of failures.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use linpoint::report::{Page, PageData};

/// `linpoint` in the target directory of cargo, if the program runs from there.
pub(crate) fn folder() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    // Cargo marks its directory with this file.
    let mut folders = program.ancestors();
    let target = folders.find(|folder| folder.join("CACHEDIR.TAG").exists());
    target
        .map_or_else(std::env::temp_dir, Path::to_owned)
        .join("linpoint")
}

/// The name of the test that runs, as a name for files.
pub(crate) fn test_name() -> String {
    let thread = std::thread::current();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    thread
        .name()
        .unwrap_or("test")
        .replace(|c| !is_plain(c), "-")
}

/// Writes a page. Creates its folder if it is missing.
pub(crate) fn write_page(page_data: &PageData, path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut page = Page::new(BufWriter::new(File::create(path)?))?;
    page.add(page_data)?;
    page.finish().map(drop)
}
