import io.a2a.server.PublicAgentCard;
import io.a2a.server.agentexecution.AgentExecutor;
import io.a2a.server.agentexecution.RequestContext;
import io.a2a.server.events.EventQueue;
import io.a2a.server.tasks.TaskUpdater;
import io.a2a.spec.AgentCapabilities;
import io.a2a.spec.AgentCard;
import io.a2a.spec.AgentSkill;
import io.a2a.spec.DataPart;
import io.a2a.spec.FilePart;
import io.a2a.spec.FileWithBytes;
import io.a2a.spec.FileWithUri;
import io.a2a.spec.Message;
import io.a2a.spec.Part;
import io.a2a.spec.Task;
import io.a2a.spec.TaskState;
import io.a2a.spec.TaskStatus;
import io.a2a.spec.TextPart;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.QuarkusApplication;
import io.quarkus.runtime.annotations.QuarkusMain;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Produces;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Its words are those of ../../../../python/agent.py. */
@QuarkusMain
@ApplicationScoped
public class ObedientAgent implements QuarkusApplication {
    private static final String PORT = "quarkus.http.port";

    public static void main(String[] args) throws IOException {
        // The card has to name the port before the server has one.
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            System.setProperty(PORT, String.valueOf(free.getLocalPort()));
        }
        Quarkus.run(ObedientAgent.class, args);
    }

    /** Called once the server listens. */
    @Override
    public int run(String... args) {
        System.out.println("listening " + url());
        Quarkus.waitForExit();
        return 0;
    }

    private static String url() {
        return "http://127.0.0.1:" + System.getProperty(PORT) + "/";
    }

    @Produces
    @PublicAgentCard
    public AgentCard card() {
        return new AgentCard.Builder()
                .name("Obedient")
                .description("Does what the first word of a message says.")
                .version("1.0.0")
                .url(url())
                .preferredTransport("JSONRPC")
                .protocolVersion("0.3.0")
                .capabilities(new AgentCapabilities.Builder().streaming(true).pushNotifications(true).build())
                .defaultInputModes(List.of("text/plain"))
                .defaultOutputModes(List.of("text/plain"))
                .skills(List.of(skill()))
                .build();
    }

    private static AgentSkill skill() {
        return new AgentSkill.Builder().id("obey").name("Obey").description("Does as told.").tags(List.of("test")).build();
    }

    @Produces
    public AgentExecutor executor() {
        return new Obedient();
    }

    private static final class Obedient implements AgentExecutor {
        private final Set<String> canceled = ConcurrentHashMap.newKeySet();

        @Override
        public void execute(RequestContext call, EventQueue queue) {
            String[] words = call.getUserInput("").split(" ", 2);
            String rest = words.length > 1 ? words[1] : "";
            if (words[0].equals("say")) {
                queue.enqueueEvent(new Message.Builder()
                        .role(Message.Role.AGENT)
                        .contextId(call.getContextId())
                        .parts(new TextPart(rest))
                        .build());
                return;
            }
            TaskUpdater updater = new TaskUpdater(call, queue);
            if (call.getTask() == null) {
                queue.enqueueEvent(new Task.Builder()
                        .id(call.getTaskId())
                        .contextId(call.getContextId())
                        .status(new TaskStatus(TaskState.SUBMITTED))
                        .history(call.getMessage())
                        .build());
                settle();
            }
            updater.startWork();
            settle();
            switch (words[0]) {
                case "ask" -> {
                    updater.requiresInput(updater.newAgentMessage(List.of(new TextPart("what?")), null), true);
                    return;
                }
                case "fail" -> {
                    updater.fail(updater.newAgentMessage(List.of(new TextPart("as told")), null));
                    return;
                }
                case "throw" -> throw new IllegalStateException("broken as told");
                case "slow" -> {
                    while (!canceled.remove(call.getTaskId())) {
                        pass(100);
                        updater.startWork();
                    }
                    return;
                }
                case "quiet" -> pass(Long.parseLong(rest));
                case "stream" -> {
                    for (String chunk : List.of("one", "two", "three")) {
                        List<Part<?>> parts = List.of(new TextPart(chunk));
                        updater.addArtifact(parts, "chunks", null, null, !chunk.equals("one"), chunk.equals("three"));
                        settle();
                    }
                }
                case "parts" -> updater.addArtifact(everyPart(), "parts", null, null);
                default -> updater.addArtifact(List.of(new TextPart(rest)), "echo", null, null);
            }
            settle();
            updater.complete();
        }

        /**
         * The server hands each event to a thread of its own: of events that follow one another at once, the later may be sent first, and
         * some even after the one that ends the stream, which the client then refuses as it has to.
         */
        private static void settle() {
            pass(50);
        }

        @Override
        public void cancel(RequestContext call, EventQueue queue) {
            canceled.add(call.getTaskId());
            new TaskUpdater(call, queue).cancel();
        }

        private static List<Part<?>> everyPart() {
            String five = Base64.getEncoder().encodeToString(new byte[] {0, (byte) 250, (byte) 255, 62, 63});
            Map<String, Object> data = new HashMap<>();
            data.put("n", 1.5);
            data.put("list", Arrays.asList(true, null));
            data.put("deep", Map.of("text", "x"));
            return List.of(
                    new TextPart("grüß ☃"),
                    new DataPart(data),
                    new FilePart(new FileWithBytes("application/octet-stream", "five.bin", five)),
                    new FilePart(new FileWithUri("text/plain", null, "https://agent.example/file")));
        }

        private static void pass(long milliseconds) {
            try {
                Thread.sleep(milliseconds);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
