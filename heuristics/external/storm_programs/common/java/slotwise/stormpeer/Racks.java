package slotwise.stormpeer;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.storm.networktopography.DNSToSwitchMapping;

/** The racks of an instance's hosts. Storm makes its own object of this class, by name. */
public final class Racks implements DNSToSwitchMapping {
    private static volatile Map<String, String> rackOfHost = Map.of();

    /** Takes the racks of the next cluster from the nodes of an instance. */
    static void read(JsonNode nodes) {
        Map<String, String> racks = new HashMap<>();
        for (JsonNode node : nodes) {
            String host = node.get("host").asText();
            String rack = node.get("rack").asText();
            String other = racks.putIfAbsent(host, rack);
            if (other != null && !other.equals(rack)) {
                throw new IllegalArgumentException(
                    "host " + host + ": must be in one rack, is in " + other + " and " + rack);
            }
        }
        rackOfHost = racks;
    }

    @Override
    public Map<String, String> resolve(List<String> hosts) {
        Map<String, String> found = new HashMap<>();
        for (String host : hosts) {
            found.put(host, rackOfHost.get(host));
        }
        return found;
    }
}
