// Cells of CSV: quoted where they have to be, and never a formula.
import fc from 'fast-check'
import t from 'tap'
import { asItWas, csvLine } from '../../../src/http/csv.js'
import { runs, seedOf } from '@ringledger/embedded-postgres/testing'

t.test('cells are quoted as RFC 4180 has it', async (t) => {
  t.equal(csvLine(['a', 'b c', 1.5, null, undefined, '']), 'a,b c,1.5,,,\r\n')
  t.equal(csvLine(['a,b', 'a"b', 'a\r\nb', ' a', 'a ']), '"a,b","a""b","a\r\nb"," a","a "\r\n')
})

t.test('a cell that may be a formula begins with an apostrophe, numbers stay as they are', async (t) => {
  for (const text of ['=1+1', '+cmd', '-1+1', '@SUM(A1)', '\tx', '＝1', '+1555,1', '|x', '%x']) {
    t.match(csvLine([text]), /^"?'/, text)
  }
  for (const text of ['+15551230001', '-5', '-1.25', 'a=b', "'x"]) t.equal(csvLine([text]), `${text}\r\n`)
})

t.test('after a sign that ends a cell elsewhere there is no formula either, however it is quoted', async (t) => {
  t.equal(csvLine([1, 'Ana;=cmd|x']), '1,"Ana;\'=cmd|x"\r\n')
  t.equal(csvLine([1, 'Ana\t @SUM(A1)', 'b\n"=1', 'a;b']), '1,"Ana\t\' @SUM(A1)","b\n\'""=1","a;b"\r\n')
  const seed = seedOf('FUZZ_SEED')
  t.comment(`FUZZ_SEED=${seed}`)
  const texts = fc.array(fc.constantFrom(...'=+-@%|\'"; ,\t\r\na1\u00a0＝')).map((signs) => signs.join(''))
  fc.assert(fc.property(texts, (text) => {
    const cell = csvLine([1, text]).slice(2, -2)
    const plain = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell
    const isNumber = /^-\d+(\.\d+)?$|^\+1+$/.test(text)
    const isSafe = isNumber || plain.split(/[;\t\r\n]/).every((part) => !/^[\s"]*[=+\-@|%＝]/.test(part))
    return isSafe && asItWas(plain) === text
  }), { seed, numRuns: runs(500) })
})
