// Cells of CSV: quoted where they have to be, and never a formula.
import t from 'tap'
import { csvLine } from '../../../src/http/exports/csv.js'

t.test('cells are quoted as RFC 4180 has it', async (t) => {
  t.equal(csvLine(['a', 'b c', 1.5, null, undefined, '']), 'a,b c,1.5,,,\r\n')
  t.equal(csvLine(['a,b', 'a"b', 'a\r\nb', ' a', 'a ']), '"a,b","a""b","a\r\nb"," a","a "\r\n')
})

t.test('what may be a formula begins with an apostrophe, numbers stay what they are', async (t) => {
  for (const text of ['=1+1', '+cmd', '-1+1', '@SUM(A1)', '\tx', '＝1', '+1555,1', '|x', '%x']) {
    t.match(csvLine([text]), /^"?'/, text)
  }
  for (const text of ['+15551230001', '-5', '-1.25', 'a=b', "'x"]) t.equal(csvLine([text]), `${text}\r\n`)
})
