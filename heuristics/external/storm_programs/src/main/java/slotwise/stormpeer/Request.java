package slotwise.stormpeer;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;

/**
 * One request.
 *
 * <p>{@code instance}: the data of a {@code slotwise.instance/1} file, defaults filled in (but
 * {@code ras} of a topology may be left out). {@code hash}: what the placement names as its
 * instance. {@code strategy}: for all topologies; null = each topology's own. {@code max_states}:
 * of the whole scheduler. {@code attempts} and {@code timeout_s}: Storm's limits for one topology.
 * {@code runs}: how often the same scheduling is done, each from a fresh state; the times of all
 * come back, and the answer of the last.
 */
record Request(JsonNode data) {
    private static final String PACKAGE = "org.apache.storm.scheduler.resource.strategies.";
    private static final Map<String, String> STRATEGIES = Map.of(
        "ras-default", "DefaultResourceAwareStrategy",
        "ras-generic", "GenericResourceAwareStrategy",
        "ras-default-old", "DefaultResourceAwareStrategyOld",
        "ras-generic-old", "GenericResourceAwareStrategyOld",
        "ras-round-robin", "RoundRobinResourceAwareStrategy",
        "ras-constraint-solver", "ConstraintSolverStrategy");
    private static final Map<String, String> PRIORITIES = Map.of(
        "default", "DefaultSchedulingPriorityStrategy",
        "fifo", "FIFOSchedulingPriorityStrategy",
        "generic", "GenericResourceAwareSchedulingPriorityStrategy");

    JsonNode instance() {
        return data.get("instance");
    }

    String hash() {
        return data.get("hash").asText();
    }

    int maxStates() {
        return data.get("max_states").intValue();
    }

    int attempts() {
        return data.get("attempts").intValue();
    }

    int timeoutSeconds() {
        return data.get("timeout_s").intValue();
    }

    int runs() {
        return data.get("runs").intValue();
    }

    /** The Storm class that schedules a topology. */
    String strategyClass(JsonNode topology) {
        JsonNode forced = data.path("strategy");
        String name = (forced.isTextual() ? forced : topology.get("strategy")).asText();
        return PACKAGE + "scheduling." + known(STRATEGIES, name, "strategy");
    }

    /** The Storm class that orders the topologies. */
    String priorityClass() {
        String name = instance().get("scheduler").get("priority_strategy").asText();
        return PACKAGE + "priority." + known(PRIORITIES, name, "priority_strategy");
    }

    private static String known(Map<String, String> names, String name, String field) {
        String found = names.get(name);
        if (found == null) {
            throw new IllegalArgumentException(
                field + ": must be one of " + names.keySet() + ", got " + name);
        }
        return found;
    }
}
