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

/// A queue whose `Take` may be one of an older version, or of one that takes the newest element.
fn queue_with(take: fn(&MutexQueue) -> u32) -> Object<MutexQueue> {
    object(MutexQueue::default)
        .op("Add", [200, 400], MutexQueue::add)
        .op0("Take", take)
        .may_block("Take")
}

fn empty_folder(name: &str) -> std::path::PathBuf {
    let folder = path(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

#[test]
fn any_plan_has_observation_files() {
    let folder = empty_folder("auto");
    let all = |object: Object<MutexQueue>| object.auto(2).random(2, 2, 3).init(["Add(200)"]);
    let report = all(queue_with(MutexQueue::take))
        .write_observations(&folder)
        .check();
    assert!(report.passed(), "{report}");
    let files = std::fs::read_dir(&folder).unwrap().count();
    assert!(files > 5 && files <= report.tests.len(), "{files}");

    let report = all(queue_with(MutexQueue::take))
        .expect_observations(&folder)
        .check();
    assert!(report.passed(), "{report}");
    let report = all(queue_with(|queue| queue.take() + 1))
        .expect_observations(&folder)
        .check();
    let failure = report.failure().unwrap_or_else(|| panic!("{report}"));
    assert_eq!(failure.kind, FailureKind::Changed);
}

#[test]
fn phase_2_runs_from_observation_files_alone() {
    let folder = empty_folder("phase-2");
    let all = |object: Object<MutexQueue>| object.all(2, 2);
    let usual = all(queue_with(MutexQueue::take))
        .write_observations(&folder)
        .check();
    assert!(usual.passed(), "{usual}");
    let alone = all(queue_with(MutexQueue::take))
        .from_observations(&folder)
        .check();
    assert!(alone.passed(), "{alone}");
    assert!(alone.notes.iter().any(|note| note.contains("phase 1")));
    // The same histories explain the same executions.
    let effort = |report: &linpoint_test::Report| {
        let effort = report.effort();
        (effort.serial, effort.stuck, effort.executions)
    };
    assert_eq!(effort(&usual), effort(&alone));
    // Another version returns other results: the file is the specification, so even a serial execution fails.
    let report = all(queue_with(|queue| queue.take() + 1))
        .from_observations(&folder)
        .check();
    let failure = report.failure().unwrap_or_else(|| panic!("{report}"));
    assert_eq!(failure.kind, FailureKind::NoWitness);
    // Another version does not wait, but panics; the file has no such result.
    let report = all(queue_with(|queue| queue.try_take().expect("an element")))
        .from_observations(&folder)
        .check();
    assert!(report.failure().is_some(), "{report}");
}

#[test]
fn panics_and_ignored_results_survive_in_observation_files() {
    let folder = empty_folder("panics");
    let object = || {
        object(MutexQueue::default)
            .op("Add", [200], MutexQueue::add)
            .op0("Take", |queue| queue.try_take().expect("an element"))
            .op0("TryTake", MutexQueue::try_take)
            .ignore_result("TryTake")
            .finally(["TryTake"])
            .all(2, 2)
    };
    let report = object().write_observations(&folder).check();
    assert!(report.passed(), "{report}");
    let report = object().from_observations(&folder).check();
    assert!(report.passed(), "{report}");
}

#[test]
fn observation_files_of_other_tests_are_refused() {
    let file = path("other.xml");
    assert!(figure_7().write_observations(&file).check().passed());
    let undecided = |object: Object<MutexQueue>| match object.check().verdict {
        Verdict::Undecided(why) => why,
        verdict => panic!("{verdict:?}"),
    };
    let other =
        || queue_with(MutexQueue::take).matrix([["Add(200)", "Add(200)"], ["Take", "Take"]]);
    assert!(undecided(other().from_observations(&file)).contains("in this test"));
    let fewer = queue_with(MutexQueue::take).matrix([["Add(200)"], ["Take"]]);
    assert!(undecided(fewer.from_observations(&file)).contains("not one of this test"));
    let several = queue_with(MutexQueue::take).auto(2);
    assert!(undecided(several.from_observations(&file)).contains("folder"));
    let text = std::fs::read_to_string(&file).unwrap();
    // The operations of the first thread in the wrong order.
    std::fs::write(
        &file,
        text.replace("1[ ]1 2[ ]2 3[ ]3", "2[ ]2 1[ ]1 3[ ]3"),
    )
    .unwrap();
    assert!(undecided(figure_7().from_observations(&file)).contains("no serial history"));
}
