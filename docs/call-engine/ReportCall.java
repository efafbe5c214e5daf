// Reports by event that a call has ended. The same report twice is one report.
// With com.eventstore:db-client-java 5 and its dependencies in CLASSPATH:
// EVENTSTORE_URL=... java -cp "$CLASSPATH" ReportCall.java CALL_ID report.json
import com.eventstore.dbclient.AppendToStreamOptions;
import com.eventstore.dbclient.EventData;
import com.eventstore.dbclient.EventDataBuilder;
import com.eventstore.dbclient.EventStoreDBClient;
import com.eventstore.dbclient.EventStoreDBConnectionString;
import com.eventstore.dbclient.ExpectedRevision;
import com.eventstore.dbclient.WrongExpectedVersionException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.UUID;
import java.util.concurrent.ExecutionException;

public class ReportCall {
    // Any UUID will do; choose one for your engine and never change it.
    static final UUID NAMESPACE = UUID.fromString("6f1d4f0a-3c5e-4b7e-9a52-0d8f6c1b7e21");

    // The version 5 UUID of a name (RFC 9562, section 5.5); UUID.nameUUIDFromBytes makes version 3.
    static UUID uuidV5(String name) throws Exception {
        MessageDigest sha1 = MessageDigest.getInstance("SHA-1");
        sha1.update(ByteBuffer.allocate(16).putLong(NAMESPACE.getMostSignificantBits())
            .putLong(NAMESPACE.getLeastSignificantBits()).array());
        ByteBuffer hash = ByteBuffer.wrap(sha1.digest(name.getBytes(StandardCharsets.UTF_8)));
        long most = hash.getLong() & ~0xf000L | 0x5000L;
        long least = hash.getLong() & ~(0xc0L << 56) | 0x80L << 56;
        return new UUID(most, least);
    }

    // False when another report of this call is in the log: that one stands. Any other error may be tried again.
    static boolean reportCall(EventStoreDBClient client, String callId, byte[] report) throws Exception {
        EventData event = EventDataBuilder.json(uuidV5(callId), "CallCompleted", report)
            .metadataAsBytes(("{\"$correlationId\":\"" + callId + "\"}").getBytes(StandardCharsets.UTF_8))
            .build();
        AppendToStreamOptions options = AppendToStreamOptions.get().expectedRevision(ExpectedRevision.noStream());
        try {
            client.appendToStream("call-" + callId, options, event).get();
            return true;
        } catch (ExecutionException failure) {
            if (failure.getCause() instanceof WrongExpectedVersionException) return false;
            throw failure;
        }
    }

    public static void main(String[] args) throws Exception {
        EventStoreDBClient client = EventStoreDBClient.create(
            EventStoreDBConnectionString.parseOrThrow(System.getenv("EVENTSTORE_URL")));
        boolean fits = reportCall(client, args[0], Files.readAllBytes(Path.of(args[1])));
        System.out.println(fits ? "reported" : "reported before, with another body");
        client.shutdown();
    }
}
