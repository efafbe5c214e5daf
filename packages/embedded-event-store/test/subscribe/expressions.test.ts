// Expressions of filters find what EventStoreDB's .NET engine finds, in linear time, or are refused.
import t from 'tap'
import { searchFor } from '../../src/feed/expression.js'

t.test('an expression is searched anywhere in a name', async (t) => {
  const cases: Array<[expression: string, found: string[], missed: string[]]> = [
    ['^user-\\d+$', ['user-1', 'user-٣'], ['user-', 'a-user-1', 'user-1-']],
    ['b', ['abc'], ['ac']],
    ['^(A|B)$', ['A', 'B', 'B\n'], ['AB', 'A\n\n']],
    ['^[^\\$].*', ['a$'], ['$a']],
    ['^\\w+$', ['straße_1'], ['a-b', '💥']],
    ['^[\\w-]+\\z', ['ä-1'], ['ä 1', 'ä\n']],
    ['^\\W\\S\\D$', ['-ab', '€xx'], ['aab', '- b', '-a1']],
    ['[]a[]', [']', 'a', '['], ['b', '^']],
    ['[^]]', ['a'], [']', '']],
    ['^[$.]\\$?$', ['$', '.$'], ['a', '$.']],
    ['(?i)ORDER', ['border'], ['odrer']],
    ['(?:a|(?<name>b))c', ['ac', 'bc'], ['c']],
    ['\\x41\\u00df\\p{Lu}\\t', ['AßZ\t'], ['AßzT']],
    ['a{2,3}b', ['aab'], ['ab']],
    ['^.$', ['a'], ['\n', 'ab']]
  ]
  for (const [expression, found, missed] of cases) {
    const search = searchFor(expression)
    for (const name of found) t.ok(search(name), `${expression} finds ${JSON.stringify(name)}`)
    for (const name of missed) t.notOk(search(name), `${expression} does not find ${JSON.stringify(name)}`)
  }
})

t.test('what a linear engine cannot say, and what the two engines read differently, is refused by name', async (t) => {
  const refused = [
    '(?=a)', '(?!a)', '(?<=a)', '(?<!a)', '(?>a)', '(?#a)', '(?m)^a$', '(?x) a', '(?P<n>a)', "(?'n'a)", '(a)\\1',
    '\\k<n>', '\\bword', '\\Ba', '\\Ga', '\\Qa.b\\E', '\\pL', '\\p{IsGreek}', '\\p{Greek}', '[a-z-[aeiou]]', '[\\W]',
    '(', 'a**', '[', '\\', 'x'.repeat(16_385)
  ]
  for (const expression of refused) t.throws(() => searchFor(expression), { message: /filter/ }, expression.slice(0, 20))
  t.throws(() => searchFor('a(?=b)'), { message: /without look-around.*: \(\?/ })
})

t.test('an expression that keeps a backtracking engine busy for ever answers at once', { timeout: 20_000 }, async (t) => {
  for (const expression of ['(a+)+$', '(a|aa)+$', '(.*a){20}\\z']) {
    t.notOk(searchFor(expression)(`${'a'.repeat(2_000)}b`), expression)
  }
})

t.test('an expression that would keep the one thread busy is refused before it is compiled', async (t) => {
  const heavy = [
    '\\w|'.repeat(4_000) + 'a', '\\w'.repeat(2_000), '\\w{1000}', '\\p{L}{300}', '(?i)' + '[\\w]'.repeat(1_000),
    '(\\w{10}){20}', '((\\d|x){2,30}){10}', '[a\\]b]{200}'
  ]
  for (const expression of heavy) {
    t.throws(() => searchFor(expression), { message: /repeats too much, or has too many classes/ }, expression.slice(0, 20))
  }
  const names = Array.from({ length: 400 }, (_, nth) => `^order-created-by-customer-${nth}`).join('|')
  const light = [names, 'a{1000}', '((a{10}){10}){10}', '\\w{50}', '^[^$].*', 'x'.repeat(16_384), 'a{', '()', '\\(\\[\\{']
  for (const expression of light) t.ok(searchFor(expression), expression.slice(0, 20))
})
