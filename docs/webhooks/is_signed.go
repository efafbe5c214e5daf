// Package webhooks verifies a webhook by hand, with nothing but Go's standard library.
package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const toleranceSeconds = 300

// IsSigned tells whether secret signed exactly these bytes, at most five minutes before or after now.
func IsSigned(secret string, headers http.Header, body []byte, now time.Time) bool {
	id, timestamp := headers.Get("webhook-id"), headers.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if id == "" || err != nil {
		return false
	}
	if age := now.Unix() - seconds; age > toleranceSeconds || age < -toleranceSeconds {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	for _, signature := range strings.Fields(headers.Get("webhook-signature")) {
		if hmac.Equal(expected, []byte(signature)) {
			return true
		}
	}
	return false
}
