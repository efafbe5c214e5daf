// Runs the project's own ESLint configuration on a piece of text, as if it stood in a given file.
import { ESLint } from 'eslint'
import tseslint from 'typescript-eslint'
import { packageRoot } from '../../src/package-root.js'

// The files of the cases need not exist, so the rules that ask the type checker stay out.
const withoutTypes = new ESLint({
  cwd: packageRoot,
  overrideConfig: {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: false } },
    rules: tseslint.configs.disableTypeChecked.rules ?? {}
  }
})
const withTypes = new ESLint({ cwd: packageRoot })

/** The rules that refuse `text` in `filePath`, a file that need not exist; rules that need types are left out. */
export async function refused (filePath: string, text: string): Promise<string[]> {
  return rulesOf(await withoutTypes.lintText(text + '\n', { filePath }))
}

/** The same with the typed rules; the file must be one that tsconfig.json includes. */
export async function refusedWithTypes (filePath: string, text: string): Promise<string[]> {
  return rulesOf(await withTypes.lintText(text + '\n', { filePath }))
}

function rulesOf (results: ESLint.LintResult[]): string[] {
  return results.flatMap(({ messages }) => messages.map(({ ruleId, message }) => ruleId ?? message))
}
