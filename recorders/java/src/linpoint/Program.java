package linpoint;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import linpoint.Description.Method;
import linpoint.Subject.Call;

/** What each thread calls, in turn. */
record Program(List<List<Call>> threads) {
    /** Which methods a program calls. */
    record Choice(List<Method> core, List<Method> others) {
        /** The methods that {@code selection} names: {@code core}, {@code all}, or one of the others beside the core ones. */
        static Choice of(Description description, String selection) {
            return switch (selection) {
                case "core" -> new Choice(description.core(), List.of());
                case "all" -> new Choice(description.core(), description.others());
                default -> {
                    List<Method> named = description.others().stream()
                        .filter(method -> method.toString().equals(selection)).toList();
                    if (named.isEmpty()) {
                        throw new IllegalArgumentException(
                            "no other method is called " + selection + "; there are " + description.others());
                    }
                    yield new Choice(description.core(), named);
                }
            };
        }

        /** Half of the calls are of core methods, if there are any, so that there is something to observe. */
        Method pick(Random random) {
            boolean isCore = others.isEmpty() || !core.isEmpty() && random.nextBoolean();
            return Description.pick(isCore ? core : others, random);
        }
    }

    /** Returns a random program in which at least one of the other methods is called, if there are any. */
    static Program random(Description description, Choice choice, int threads, int calls, Random random) {
        int other = choice.others().isEmpty() ? -1 : random.nextInt(threads * calls);
        List<List<Call>> all = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            int first = thread * calls;
            all.add(IntStream.range(first, first + calls).mapToObj(i -> {
                Method method = i == other ? Description.pick(choice.others(), random) : choice.pick(random);
                return description.call(method, random);
            }).toList());
        }
        return new Program(all);
    }
}
