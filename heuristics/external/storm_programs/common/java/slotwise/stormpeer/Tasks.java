package slotwise.stormpeer;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.storm.scheduler.ExecutorDetails;

/**
 * The tasks of a topology as Storm's executors.
 *
 * <p>Executors are numbered from 0 in the order of the file: components one after another, ackers
 * last, one task each.
 */
final class Tasks {
    static final String ACKER = "__acker";
    private final String topology;
    private final List<String> names = new ArrayList<>();
    private final Map<String, Integer> numbers = new HashMap<>();
    private final Map<ExecutorDetails, String> components = new HashMap<>();

    Tasks(JsonNode topology) {
        this.topology = topology.get("id").asText();
        for (JsonNode component : topology.get("components")) {
            add(component.get("id").asText(), component.get("parallelism").intValue());
        }
        if (!topology.get("ackers").isNull()) {
            add(ACKER, topology.get("ackers").get("count").intValue());
        }
    }

    private void add(String component, int count) {
        for (int index = 0; index < count; index++) {
            int number = names.size();
            String name = component + "[" + index + "]";
            names.add(name);
            numbers.put(name, number);
            components.put(new ExecutorDetails(number, number), component);
        }
    }

    /** The id of the topology. */
    String topology() {
        return topology;
    }

    int size() {
        return names.size();
    }

    int numberOf(String task) {
        return numbers.get(task);
    }

    String nameOf(ExecutorDetails executor) {
        return names.get(executor.getStartTask());
    }

    /** The component of each executor. */
    Map<ExecutorDetails, String> components() {
        return components;
    }
}
