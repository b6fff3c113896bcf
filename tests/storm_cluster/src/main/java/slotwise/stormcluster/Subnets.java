package slotwise.stormcluster;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.storm.networktopography.DNSToSwitchMapping;

/** The racks of hosts that are named by their addresses: 10.77.2.1 is in {@code rack-2}. */
public final class Subnets implements DNSToSwitchMapping {
    @Override
    public Map<String, String> resolve(List<String> hosts) {
        Map<String, String> racks = new HashMap<>();
        hosts.forEach(host -> racks.put(host, "rack-" + host.split("\\.")[2]));
        return racks;
    }
}
