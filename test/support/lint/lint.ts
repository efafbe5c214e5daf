// Runs the project's own ESLint configuration on a piece of text, as if it stood in a given file.
import { ESLint, type Linter } from 'eslint'
import tseslint from 'typescript-eslint'
import { packageRoot } from '../../../src/package-root.js'

// The files of the cases need not exist, so the rules that ask the type checker stay out.
const withoutTypes = new ESLint({
  cwd: packageRoot,
  overrideConfig: {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: false } },
    rules: tseslint.configs.disableTypeChecked.rules ?? {}
  }
})
// A program of two files is checked in a third of the time that the whole one takes.
const withTypes = new ESLint({
  cwd: packageRoot,
  overrideConfig: {
    files: ['**/*.ts'],
    languageOptions: {
      parserOptions: {
        projectService: false,
        project: 'test/long/lint/tsconfig.json',
        disallowAutomaticSingleRunInference: true // or with CI=true it takes the file for the text
      }
    }
  }
})

/** The rules that refuse `text` in `filePath`, a file that need not exist; rules that need types are left out. */
export async function refused (filePath: string, text: string): Promise<string[]> {
  const [result] = await withoutTypes.lintText(text + '\n', { filePath })
  return rulesOf(result?.messages ?? [])
}

/**
 * The same for each of several lines after a first one, with the typed rules; the file must be one that
 * test/long/lint/tsconfig.json names. One text, because the type checker looks at everything anew for each.
 */
export async function refusedByLine (filePath: string, head: string, lines: string[]): Promise<string[][]> {
  const [result] = await withTypes.lintText([head, ...lines, ''].join('\n'), { filePath })
  return lines.map((_, index) => rulesOf(result?.messages.filter(({ line }) => line === index + 2) ?? []))
}

const rulesOf = (messages: Linter.LintMessage[]) => messages.map(({ ruleId, message }) => ruleId ?? message)
