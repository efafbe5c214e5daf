// How a test reads the text of /metrics.

/** The value of a series, which is named as it stands before the value. */
export function valueOf (text: string, series: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}
