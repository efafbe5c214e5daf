import t from 'tap'
import { NameNotResolved, blockedReason, resolveName, webhookUrlProblem } from '../../../workers/deliver/guard.js'
import { privateHosts, zoned } from '../../support/receivers/private-hosts.js'
import { fc } from '../../support/fuzz/property.js'

const strict = { allowHttp: false, allowCidrs: [] }

const blocked = [
  '0.0.0.0', '0.255.255.255', '10.0.0.1', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.255.255',
  '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.2.1', '192.88.99.1', '192.168.1.1',
  '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1', '255.255.255.255', '::',
  '::1', '::7f00:1', '::1.1.1.1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:7f00:1', '64:ff9b::7f00:1',
  '64:ff9b:1::1', '100::1', 'fc00::1', 'fd12:3456::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1', '2001::1',
  '2001:1ff:ffff::1', '2001:db8::1', '2002:7f00:1::', '3fff::1', '5f00::1'
]
const open = [
  '1.1.1.1', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0',
  '169.253.255.255', '172.15.255.255', '172.32.0.0', '192.0.1.0', '192.167.255.255', '198.17.255.255', '198.20.0.0',
  '223.255.255.255', '::ffff:1.1.1.1', '2000::1', '2001:200::1', '2001:4860:4860::8888', '2003::1', '2606:4700::1111',
  '3ffe::1'
]

t.test('private and reserved addresses are blocked, to the edge of each range', async (t) => {
  for (const ip of blocked) t.ok(blockedReason(ip, []), ip)
  for (const ip of open) t.equal(blockedReason(ip, []), undefined, ip)
})

t.test('an allowed range opens exactly itself, mapped addresses included', async (t) => {
  const allow = ['127.0.0.0/8', 'fd00::/8']
  for (const ip of ['127.0.0.1', '::ffff:127.0.0.1', 'fd00::1']) t.equal(blockedReason(ip, allow), undefined, ip)
  for (const ip of ['10.0.0.1', '::1', 'fc00::1', '64:ff9b::7f00:1']) t.ok(blockedReason(ip, allow), ip)
})

t.test('a v4 address and its mapped form are judged alike', async () => {
  fc.assert(fc.property(fc.ipV4(), (ip) =>
    (blockedReason(ip, []) === undefined) === (blockedReason(`::ffff:${ip}`, []) === undefined)))
})

t.test('no v6 address outside 2000::/3 is open, mapped ones aside', async () => {
  fc.assert(fc.property(fc.ipV6(), (ip) => {
    const hex = new URL(`http://[${ip}]/`).hostname.slice(1, -1)
    const first = Number.parseInt(hex.split(':')[0] || '0', 16)
    return hex.startsWith('::ffff:') || (first >= 0x2000 && first <= 0x3fff) || blockedReason(ip, []) !== undefined
  }))
})

t.test('an https URL with a name or a public address may be stored', async (t) => {
  const storable = [
    'https://example.com/hook?a=1', 'HTTPS://EXAMPLE.COM', 'https://1.1.1.1:8443/', 'https://[2606:4700::1111]/',
    'https://exämple.com/ü', 'https://example.com:443', 'https://xn--exmple-cua.com:65535/#x'
  ]
  for (const url of storable) {
    t.equal(webhookUrlProblem(url, strict), undefined, url)
  }
})

t.test('a URL that is not absolute, or not https, is refused', async (t) => {
  const noUrls = [
    '', 'example.com', '//example.com', '/hook', 'ftp://example.com', 'http://example.com', 'https:example.com',
    'https://', 'https:///example.com', 'https://?x', 'https://example.com\\x', 'https:\\\\example.com', ' https://example.com', 'https://example.com ', 'https://exa mple.com',
    'https://example.com/\n', 'https://example.com:99999', 'javascript:alert(1)'
  ]
  for (const url of noUrls) {
    t.equal(webhookUrlProblem(url, strict), 'must be an absolute https URL', JSON.stringify(url))
  }
  t.equal(webhookUrlProblem('http://example.com', { ...strict, allowHttp: true }), undefined, 'unless http is allowed')
})

t.test('user-info, closed ports and long URLs are refused', async (t) => {
  for (const url of ['https://user@example.com', 'https://user:pw@example.com', 'https://:pw@example.com']) {
    t.match(webhookUrlProblem(url, strict), /user name/)
  }
  for (const port of [1, 22, 25, 81, 1023]) t.match(webhookUrlProblem(`https://example.com:${port}`, strict), /port/)
  t.equal(webhookUrlProblem('https://example.com/' +
    '👋'.repeat(2_048 - 20), strict), undefined, 'code points are counted')
  t.match(webhookUrlProblem('https://example.com/' + 'x'.repeat(2_048 - 19), strict), /2048/)
})

t.test('a private literal is refused in every spelling', async (t) => {
  for (const host of privateHosts) {
    t.equal(webhookUrlProblem(`https://${host}/`, strict), 'must not point to a private or reserved address', host)
  }
  for (const host of zoned) {
    t.equal(webhookUrlProblem(`https://${host}/`, strict), 'must be an absolute https URL', host)
  }
  t.equal(
    webhookUrlProblem('https://127.0.0.1:8443/', { ...strict, allowCidrs: ['127.0.0.0/8'] }),
    undefined,
    'unless its range is allowed'
  )
})

t.test('localhost is loopback and never asked for', async (t) => {
  for (const name of ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost']) {
    t.same(await resolveName(name), ['127.0.0.1', '::1'])
  }
})

t.test('a name that does not resolve says so', async (t) => {
  await t.rejects(resolveName('does-not-exist.invalid'), NameNotResolved)
})
