// Lint: neostandard's style, and typed rules where promises and unions go wrong. What may import what stands in
// .dependency-cruiser.js.
import neostandard from 'neostandard'
import tseslint from 'typescript-eslint'

// Where neostandard and this code base differ, and why.
const house = {
  rules: {
    camelcase: 'off', // events, rows and answers carry the field names of the API
    'no-return-assign': 'off', // `close: () => closing ??= stop()` closes once
    'no-unmodified-loop-condition': 'off', // it does not see what another callback changes meanwhile
    'no-unreachable-loop': ['error', { ignore: ['ForOfStatement'] }], // the first event of a read
    'no-void': 'off', // `void promise` is how no-floating-promises is told that nobody waits
    'promise/param-names': 'off',
    '@typescript-eslint/no-redeclare': 'off' // a TypeBox schema and its type share one name; the compiler checks the rest
  }
}

/** Without it, lines could be saved by packing them. A `break` may end the line of its case. */
const oneStatementALine = {
  meta: { type: 'layout', schema: [], messages: { packed: 'One statement a line.' } },
  create (context) {
    const { sourceCode } = context
    const look = (statements) => statements.slice(1).forEach((each, index) => {
      const semicolon = sourceCode.getLastToken(statements[index]) // one before `(` stands on the line of the next
      const last = semicolon.value === ';' ? sourceCode.getTokenBefore(semicolon) : semicolon
      const isPacked = last.loc.end.line === each.loc.start.line && each.type !== 'BreakStatement'
      if (isPacked) context.report({ node: each, messageId: 'packed' })
    })
    const inBody = ({ body }) => look(body)
    const inCase = ({ consequent }) => look(consequent)
    return { Program: inBody, BlockStatement: inBody, StaticBlock: inBody, SwitchCase: inCase }
  }
}

// A ceiling that nothing should touch. A string, a URL and a regular expression may be wide: they cannot be broken.
const limits = {
  plugins: { house: { rules: { 'one-statement-a-line': oneStatementALine } } },
  rules: {
    'house/one-statement-a-line': 'error',
    '@stylistic/max-len': ['error', {
      code: 120, ignoreStrings: true, ignoreTemplateLiterals: true, ignoreUrls: true, ignoreRegExpLiterals: true
    }],
    'max-lines': ['error', 500],
    'max-lines-per-function': ['error', 80]
  }
}

const typed = {
  files: ['**/*.ts', '**/*.tsx'],
  languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
  plugins: { '@typescript-eslint': tseslint.plugin },
  rules: {
    '@typescript-eslint/await-thenable': 'error',
    '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports', disallowTypeAnnotations: false }],
    '@typescript-eslint/no-explicit-any': 'error',
    // tap collects the outcome of a subtest itself; every other promise is awaited or handed on.
    '@typescript-eslint/no-floating-promises': ['error', {
      allowForKnownSafePromises: [{ from: 'package', package: '@tapjs/core', name: 'PromiseWithSubtest' }]
    }],
    '@typescript-eslint/no-for-in-array': 'error',
    '@typescript-eslint/no-misused-promises': 'error',
    '@typescript-eslint/no-non-null-assertion': 'error',
    '@typescript-eslint/no-unnecessary-type-assertion': 'error',
    '@typescript-eslint/only-throw-error': 'error',
    '@typescript-eslint/prefer-promise-reject-errors': 'error',
    '@typescript-eslint/restrict-plus-operands': 'error',
    '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
    '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }]
  }
}

// The deciders and folds are pure: the same log gives the same state on every machine, on every day.
const pureFiles = { files: ['src/domain/**', 'src/features/*/*.ts'], ignores: ['src/features/*/{routes,import}*.ts'] }
const pureDomain = {
  ...pureFiles,
  rules: {
    'no-restricted-globals': ['error', 'process', 'fetch', 'crypto', 'performance', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'],
    'no-restricted-syntax': ['error',
      { selector: 'ImportExpression', message: 'The domain loads nothing.' },
      { selector: 'AwaitExpression, :function[async=true]', message: 'The domain does not wait: look-ups are passed in.' },
      { selector: 'NewExpression[callee.name="Date"][arguments.length=0], CallExpression[callee.name="Date"], MemberExpression[object.name="Date"][property.name="now"]', message: 'The domain has no clock: times are passed in.' },
      { selector: 'MemberExpression[object.name="Math"][property.name="random"]', message: 'The domain makes no ids: they are passed in.' }
    ]
  }
}

// dependency-cruiser holds the import rules, and cannot follow a name that is only known at run time.
const namedImports = {
  files: ['src/**', 'projections/**', 'workers/**'],
  rules: {
    'no-restricted-syntax': ['error', { selector: 'ImportExpression[source.type!="Literal"]', message: 'Name the module: the import rules must see it.' }]
  }
}

export default [
  { ignores: ['**/dist/', '.tap/', 'coverage/', '.ringledger/', 'site/', 'packages/client/src/api.ts'] },
  ...neostandard({ ts: true }),
  house,
  limits,
  typed,
  namedImports,
  pureDomain
]
