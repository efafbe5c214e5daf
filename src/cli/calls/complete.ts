// `ringledger calls complete FILE`: reports a completed call as the call engine would, by event.
import { printJson, say } from '../output.js'
import { withConnections } from '../running.js'

export async function completeCallFromFile (file: string, { json }: { json?: boolean }): Promise<void> {
  const [{ readReport }, { appendReport }] = await Promise.all([
    import('./report-file.js'), import('./append-report.js')
  ])
  const report = await readReport(file)
  const isNew = await withConnections('ringledger calls complete', ({ streams }) => appendReport(streams, report))
  if (json) printJson({ call_id: report.call_id, appended: isNew })
  else say(`Call ${report.call_id} is in the log${isNew ? '' : ' already'}.`)
}
