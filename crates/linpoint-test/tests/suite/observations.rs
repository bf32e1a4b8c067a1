//! Observation files.

use linpoint_test::{FailureKind, Object, Verdict, object};

use crate::objects::MutexQueue;

fn figure_7() -> Object<MutexQueue> {
    object(MutexQueue::default)
        .op("Add", [200, 400], MutexQueue::add)
        .op0("Take", MutexQueue::take)
        .may_block("Take")
        .op0("TryTake", MutexQueue::try_take)
        .matrix([["Add(200)", "Add(400)"], ["Take", "TryTake"]])
}

fn path(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn the_observations_of_figure_7_are_those_of_the_paper() {
    let path = path("figure-7.xml");
    let report = figure_7().write_observations(&path).check();
    assert!(report.passed(), "{report}");
    assert_eq!((report.effort().serial, report.effort().stuck), (4, 1));
    let text = std::fs::read_to_string(&path).unwrap();
    let expected = r#"<observationset>
  <observation>
    <thread id="A">1 2</thread>
    <thread id="B">3 4</thread>
    <op id="1" name="Add">value="200" result="()"</op>
    <op id="2" name="Add">value="400" result="()"</op>
    <op id="3" name="Take">result="200"</op>
    <op id="4" name="TryTake">result="Some(400)"</op>
    <history>1[ ]1 2[ ]2 3[ ]3 4[ ]4</history>
    <history>1[ ]1 3[ ]3 2[ ]2 4[ ]4</history>
  </observation>
  <observation>
    <thread id="A">1 2</thread>
    <thread id="B">3 4</thread>
    <op id="1" name="Add">value="200" result="()"</op>
    <op id="2" name="Add">value="400" result="()"</op>
    <op id="3" name="Take">result="200"</op>
    <op id="4" name="TryTake">result="None"</op>
    <history>1[ ]1 3[ ]3 4[ ]4 2[ ]2</history>
  </observation>
  <observation>
    <thread id="A"/>
    <thread id="B">1B</thread>
    <op id="1" name="Take"/>
    <history>1[ #</history>
  </observation>
</observationset>
"#;
    assert_eq!(text.replace("&quot;", "\""), expected);
}

#[test]
fn observations_are_a_regression_specification() {
    let path = path("regression.xml");
    let report = figure_7().write_observations(&path).check();
    assert!(report.passed(), "{report}");
    let report = figure_7().expect_observations(&path).check();
    assert!(report.passed(), "{report}");
    // A later version takes the newest element first.
    let report = object(MutexQueue::default)
        .op("Add", [200, 400], MutexQueue::add)
        .op0("Take", MutexQueue::take)
        .may_block("Take")
        .op0("TryTake", |queue| queue.try_take().map(|value| value + 1))
        .matrix([["Add(200)", "Add(400)"], ["Take", "TryTake"]])
        .expect_observations(&path)
        .check();
    let failure = report.failure().unwrap_or_else(|| panic!("{report}"));
    assert_eq!(failure.kind, FailureKind::Changed);
    assert!(
        failure
            .differences
            .iter()
            .any(|line| line.contains("Some(401)")),
        "{failure}"
    );
}

#[test]
fn bad_observation_files_are_named() {
    let undecided =
        |path: &std::path::Path| match figure_7().expect_observations(path).check().verdict {
            Verdict::Undecided(why) => why,
            verdict => panic!("{verdict:?}"),
        };
    assert!(undecided(&path("missing.xml")).contains("missing.xml"));
    let bad = path("bad.xml");
    std::fs::write(
        &bad,
        "<observationset><observation><history>7[ ]7</history></observation></observationset>",
    )
    .unwrap();
    assert!(undecided(&bad).contains("no operation"));
    std::fs::write(&bad, "<observationset").unwrap();
    assert!(undecided(&bad).contains("not an observation file"));
}
