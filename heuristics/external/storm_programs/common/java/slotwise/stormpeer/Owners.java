package slotwise.stormpeer;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;

/** Owners of topologies, and what the cluster guarantees them. */
final class Owners {
    private Owners() {
    }

    /** Storm's user resource pools. */
    static Map<String, Map<String, Number>> pools(JsonNode pools) {
        Map<String, Map<String, Number>> found = new HashMap<>();
        pools.properties().forEach(entry -> {
            Map<String, Number> pool = new HashMap<>();
            entry.getValue().properties().forEach(amount -> pool.put(
                amount.getKey().equals(Numbers.MEMORY) ? "memory" : amount.getKey(),
                amount.getValue().doubleValue()));
            found.put(name(entry.getKey()), pool);
        });
        return found;
    }

    /**
     * The name of an owner. Storm does not schedule topologies without one; this stand-in for the
     * empty name has its hash code and its place in every order.
     */
    static String name(String name) {
        return name.isEmpty() ? "\0" : name;
    }
}
