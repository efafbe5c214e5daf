// Verifies a webhook by hand, with nothing but Java 11 or later.
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public final class IsSigned {
    private static final long TOLERANCE_SECONDS = 300;

    /** Whether `secret` signed exactly these bytes, at most five minutes from `now`. Names of headers are in lower case. */
    public static boolean isSigned(String secret, Map<String, String> headers, byte[] body, long now)
            throws GeneralSecurityException {
        String id = headers.getOrDefault("webhook-id", "");
        String timestamp = headers.getOrDefault("webhook-timestamp", "");
        if (id.isEmpty() || !timestamp.matches("\\d{1,18}")) {
            return false;
        }
        if (Math.abs(now - Long.parseLong(timestamp)) > TOLERANCE_SECONDS) {
            return false;
        }
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret.replaceFirst("^whsec_", "")), "HmacSHA256"));
        mac.update((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
        byte[] digest = mac.doFinal(body);
        byte[] expected = ("v1," + Base64.getEncoder().encodeToString(digest)).getBytes(StandardCharsets.UTF_8);
        for (String signature : headers.getOrDefault("webhook-signature", "").split(" ")) {
            if (MessageDigest.isEqual(expected, signature.getBytes(StandardCharsets.UTF_8))) {
                return true;
            }
        }
        return false;
    }
}
