//! The examples with output in chapters of `docs/`, run and compared as those in `cmd/` are.

#[test]
fn examples_of_chapters() {
    // Paths in the chapters begin at the root of the repository.
    std::env::set_current_dir("../..").expect("the root of the repository");
    trycmd::TestCases::new()
        .env("COLUMNS", "100")
        .case("docs/depth.md")
        .case("docs/papers.md");
}
