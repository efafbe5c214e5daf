// The code of the guide for receivers that is not TypeScript judges every vector as it says, where its language is.
import { spawnSync } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { vectors } from '../../docs/webhook-vectors.js'

const folder = 'docs/webhooks'
const work = await mkdtemp(join(tmpdir(), 'rl-signed-'))
t.teardown(() => rm(work, { recursive: true, force: true }))

const python = `
import json
from is_signed import is_signed
vectors = json.load(open("vectors.json", encoding="utf-8"))
names = {"id": "webhook-id", "timestamp": "webhook-timestamp", "signature": "webhook-signature"}
headers = lambda v: {name: v[key] for key, name in names.items()}
said = [is_signed(v["secret"], headers(v), v["body"].encode(), v["now"]) for v in vectors]
print(json.dumps(said))`

const php = `
require 'is_signed.php';
$vectors = json_decode(file_get_contents('vectors.json'), true);
$headers = fn ($v) => ['webhook-id' => $v['id'], 'webhook-timestamp' => $v['timestamp'], 'webhook-signature' => $v['signature']];
$said = array_map(fn ($v) => is_signed($v['secret'], $headers($v), $v['body'], $v['now']), $vectors);
echo json_encode($said);`

const go = `package main
import ("encoding/json"; "fmt"; "net/http"; "os"; "time"; "try/webhooks")
func main() {
  var vectors []struct{ Secret, Id, Timestamp, Signature, Body string; Now int64 }
  text, _ := os.ReadFile(os.Args[1])
  if err := json.Unmarshal(text, &vectors); err != nil { panic(err) }
  said := []bool{}
  headers := http.Header{}
  for _, v := range vectors {
    headers.Set("webhook-id", v.Id); headers.Set("webhook-timestamp", v.Timestamp); headers.Set("webhook-signature", v.Signature)
    said = append(said, webhooks.IsSigned(v.Secret, headers, []byte(v.Body), time.Unix(v.Now, 0)))
  }
  answer, _ := json.Marshal(said)
  fmt.Print(string(answer))
}`

/** Java reads no JSON by itself: the vectors are its arguments. */
const java = `import java.util.*;
public class Try {
    public static void main(String[] args) throws Exception {
        List<Boolean> said = new ArrayList<>();
        for (int at = 0; at < args.length; at += 6) {
            Map<String, String> headers = Map.of(
                "webhook-id", args[at + 1], "webhook-timestamp", args[at + 2], "webhook-signature", args[at + 3]);
            byte[] body = Base64.getDecoder().decode(args[at + 4]);
            said.add(IsSigned.isSigned(args[at], headers, body, Long.parseLong(args[at + 5])));
        }
        System.out.print(said);
    }
}`

/** What it says of each vector; undefined where it is not. */
const says: Record<string, () => Promise<unknown>> = {
  Python: async () => answer('python3', ['-B', '-c', python], folder),
  PHP: async () => answer('php', ['-n', '-r', php], folder),
  Go: async () => {
    await mkdir(join(work, 'webhooks'))
    await writeFile(join(work, 'go.mod'), 'module try\n\ngo 1.18\n')
    await writeFile(join(work, 'main.go'), go)
    await copyFile(join(folder, 'is_signed.go'), join(work, 'webhooks/is_signed.go'))
    return answer('go', ['run', '.', join(process.cwd(), folder, 'vectors.json')], work)
  },
  Java: async () => {
    await writeFile(join(work, 'Try.java'), java)
    if (!ran('javac', ['-d', work, join(work, 'Try.java'), join(folder, 'IsSigned.java')], '.')) return undefined
    const given = vectors.flatMap(({ secret, id, timestamp, signature, body, now }) =>
      [secret, id, timestamp, signature, Buffer.from(body).toString('base64'), String(now)])
    return answer('java', ['-cp', work, 'Try', ...given], '.')
  }
}

for (const [language, judge] of Object.entries(says)) {
  t.test(`${language}, where it is installed`, async (t) => {
    const said = await judge()
    if (said === undefined) t.pass(`${language} is not here: the guide shows what was tried where it is`)
    else t.same(said, vectors.map(({ valid }) => valid))
  })
}

function answer (command: string, args: string[], cwd: string): unknown {
  const stdout = ran(command, args, cwd)
  return stdout === undefined ? undefined : JSON.parse(stdout)
}

/** What it prints; undefined when there is no such program. @throws what it says of an error */
function ran (command: string, args: string[], cwd: string): string | undefined {
  const { error, status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (error) return undefined
  if (status !== 0) throw new Error(`${command}: ${stderr}`)
  return stdout || ' '
}
