//! The figures of Ozkan, Majumdar and Niksic, *Checking Linearizability Using Hitting Families* (PPoPP 2019).

/// The figures of the paper for a class.
pub(super) struct Published {
    /// The name of the type here.
    pub(super) type_name: &'static str,
    /// The name of the class there.
    pub(super) class: &'static str,
    /// Table 1: histories, operations; most, mean and deviation of operations open at a time, and of concurrent pairs.
    pub(super) histories: usize,
    pub(super) ops: usize,
    pub(super) open: (usize, f64, f64),
    pub(super) pairs: (usize, f64, f64),
    /// Table 2: most, mean and deviation of the number of schedules, for d from 1 to 5.
    pub(super) schedules: [(usize, usize, usize); 5],
    /// Table 3: histories that are not sequential, those of them called linearizable, and those shown by d from 1 to 5.
    pub(super) concurrent: usize,
    pub(super) linearizable: usize,
    pub(super) shown: [usize; 5],
    /// Table 3, by d = 6, if the text gives it.
    pub(super) shown_by_six: Option<usize>,
}

pub(super) const CLASSES: [Published; 10] = [
    Published {
        type_name: "array-blocking-queue",
        class: "ArrayBlockingQueue",
        histories: 1029,
        ops: 14,
        open: (7, 2.21, 0.91),
        pairs: (52, 3.94, 7.71),
        schedules: [
            (7, 2, 1),
            (76, 6, 12),
            (656, 21, 83),
            (4493, 96, 483),
            (24639, 412, 2290),
        ],
        concurrent: 723,
        linearizable: 714,
        shown: [651, 685, 702, 707, 709],
        shown_by_six: Some(711),
    },
    Published {
        type_name: "concurrent-hash-map",
        class: "ConcurrentHashMap",
        histories: 1055,
        ops: 14,
        open: (2, 2.00, 0.00),
        pairs: (13, 8.42, 1.93),
        schedules: [
            (2, 2, 0),
            (16, 11, 3),
            (66, 26, 10),
            (157, 39, 23),
            (268, 47, 34),
        ],
        concurrent: 1054,
        linearizable: 959,
        shown: [707, 857, 949, 959, 959],
        shown_by_six: None,
    },
    Published {
        type_name: "concurrent-linked-deque",
        class: "ConcurrentLinkedDeque",
        histories: 681,
        ops: 12,
        open: (6, 2.37, 0.78),
        pairs: (34, 4.26, 4.85),
        schedules: [
            (6, 3, 1),
            (57, 7, 8),
            (378, 17, 42),
            (1898, 42, 171),
            (7321, 98, 568),
        ],
        concurrent: 520,
        linearizable: 520,
        shown: [387, 478, 515, 519, 520],
        shown_by_six: None,
    },
    Published {
        type_name: "concurrent-linked-queue",
        class: "ConcurrentLinkedQueue",
        histories: 780,
        ops: 14,
        open: (7, 2.27, 0.85),
        pairs: (49, 4.21, 7.01),
        schedules: [
            (7, 2, 1),
            (74, 7, 11),
            (580, 22, 78),
            (3718, 88, 446),
            (19168, 351, 2101),
        ],
        concurrent: 619,
        linearizable: 616,
        shown: [525, 608, 615, 616, 616],
        shown_by_six: None,
    },
    Published {
        type_name: "concurrent-skip-list-map",
        class: "ConcurrentSkipListMap",
        histories: 1506,
        ops: 14,
        open: (7, 2.28, 0.56),
        pairs: (48, 4.04, 3.62),
        schedules: [
            (7, 3, 1),
            (70, 7, 6),
            (534, 13, 33),
            (3352, 27, 162),
            (17028, 65, 687),
        ],
        concurrent: 1358,
        linearizable: 1321,
        shown: [1311, 1319, 1320, 1321, 1321],
        shown_by_six: None,
    },
    Published {
        type_name: "concurrent-skip-list-set",
        class: "ConcurrentSkipListSet",
        histories: 417,
        ops: 18,
        open: (6, 2.54, 1.28),
        pairs: (63, 10.00, 15.77),
        schedules: [
            (6, 3, 1),
            (89, 15, 24),
            (875, 94, 222),
            (6660, 568, 1499),
            (40200, 2876, 8072),
        ],
        concurrent: 417,
        linearizable: 417,
        shown: [288, 363, 381, 402, 412],
        shown_by_six: Some(415),
    },
    Published {
        type_name: "linked-blocking-deque",
        class: "LinkedBlockingDeque",
        histories: 1131,
        ops: 8,
        open: (4, 2.63, 0.82),
        pairs: (18, 5.99, 4.57),
        schedules: [
            (4, 3, 1),
            (26, 9, 7),
            (113, 22, 27),
            (355, 42, 66),
            (696, 60, 110),
        ],
        concurrent: 1106,
        linearizable: 967,
        shown: [743, 920, 963, 967, 967],
        shown_by_six: None,
    },
    Published {
        type_name: "linked-blocking-queue",
        class: "LinkedBlockingQueue",
        histories: 1199,
        ops: 9,
        open: (3, 2.54, 0.50),
        pairs: (15, 7.28, 3.40),
        schedules: [
            (3, 3, 0),
            (20, 10, 5),
            (76, 21, 16),
            (175, 33, 30),
            (298, 39, 42),
        ],
        concurrent: 1185,
        linearizable: 975,
        shown: [533, 808, 928, 972, 975],
        shown_by_six: None,
    },
    Published {
        type_name: "linked-transfer-queue",
        class: "LinkedTransferQueue",
        histories: 1355,
        ops: 15,
        open: (5, 2.10, 0.45),
        pairs: (43, 4.79, 5.14),
        schedules: [
            (5, 2, 1),
            (60, 7, 8),
            (474, 17, 56),
            (2736, 55, 300),
            (12038, 187, 1238),
        ],
        concurrent: 1261,
        linearizable: 1229,
        shown: [878, 1144, 1203, 1217, 1226],
        shown_by_six: Some(1228),
    },
    Published {
        type_name: "priority-blocking-queue",
        class: "PriorityBlockingQueue",
        histories: 1311,
        ops: 14,
        open: (7, 2.32, 1.04),
        pairs: (59, 4.94, 9.57),
        schedules: [
            (7, 2, 1),
            (85, 7, 14),
            (805, 32, 117),
            (6043, 167, 757),
            (36825, 802, 4057),
        ],
        concurrent: 982,
        linearizable: 955,
        shown: [793, 910, 935, 949, 955],
        shown_by_six: None,
    },
];

impl Published {
    pub(super) fn of(type_name: &str) -> Option<&'static Published> {
        CLASSES.iter().find(|class| class.type_name == type_name)
    }

    /// The number of histories shown by d, if the paper gives it. Once all are shown, a larger d shows the same.
    pub(super) fn shown_by(&self, d: usize) -> Option<usize> {
        let last = self.shown[self.shown.len() - 1];
        match d {
            1..=5 => Some(self.shown[d - 1]),
            _ if last == self.linearizable => Some(last),
            6 => self.shown_by_six,
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_totals_of_the_paper() {
        let sum = |of: &dyn Fn(&Published) -> usize| CLASSES.iter().map(of).sum::<usize>();
        assert_eq!(sum(&|class| class.histories), 10464);
        assert_eq!(sum(&|class| class.concurrent), 9225);
        assert_eq!(sum(&|class| class.linearizable), 8673);
        let shown: Vec<usize> = (0..5).map(|d| sum(&|class| class.shown[d])).collect();
        assert_eq!(shown, [6816, 8092, 8511, 8629, 8660]);
    }
}
