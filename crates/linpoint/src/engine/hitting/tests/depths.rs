//! Depths are what their definition says.

use super::super::runs::witness;
use super::*;

#[test]
fn depth_is_what_its_definition_says() {
    let budget = Budget::default();
    let mut found = [0; 6];
    for_random_tasks(1500, 5, Returns::All, |task, _| {
        let poset = poset_of(task);
        let schedules = all_schedules(&poset);
        let explains: Vec<bool> = schedules
            .iter()
            .map(|order| witness(task, order).is_some())
            .collect();
        let id = |op: &u32| OpId(*op);
        let always = |tuple: &Vec<u32>| {
            let mut hitting =
                (0..schedules.len()).filter(|&i| strongly_hits(&poset, &schedules[i], tuple));
            hitting.all(|i| explains[i])
        };
        let mut expected = None;
        for d in (1..=poset.len()).rev() {
            let tuples = all_tuples(poset.len() as u32, d);
            for tuple in tuples.iter().filter(|tuple| poset.is_feasible(tuple)) {
                let ids: Vec<OpId> = tuple.iter().map(id).collect();
                let found = always_explains(task, &ids, &budget).unwrap();
                assert_eq!(found, always(tuple), "{tuple:?} {task:?}");
                if found {
                    expected = Some(d);
                }
            }
        }
        if poset.is_empty() {
            expected = Some(1);
        }
        let measured = depth(task, usize::MAX, &budget);
        let known = measured.known().map(|delayed| delayed.depth);
        assert_eq!(known, expected, "{task:?}");
        assert_eq!(known.is_some(), is_linearizable(task));
        found[known.unwrap_or(0)] += 1;
        let Measured::Is(delayed) = measured else {
            return;
        };
        assert!(delayed.depth <= poset.len().saturating_sub(1).max(1));
        assert!(always_explains(task, &delayed.tuple, &budget).unwrap());
        for &(_, base) in Base::NAMES {
            for index in [Index::Chains, Index::Tuples] {
                let family = Family {
                    rule: Rule::Canonical,
                    base,
                    index,
                };
                let shown = ShownBy::new(task, family).up_to(usize::MAX, &budget);
                assert!(shown.known().unwrap().d <= delayed.depth);
            }
        }
        if delayed.depth > 1 {
            let less = delayed.depth - 1;
            assert_eq!(depth(task, less, &budget), Measured::Above(less));
        }
    });
    assert!(found[..5].iter().all(|&count| count > 5), "{found:?}");
}
