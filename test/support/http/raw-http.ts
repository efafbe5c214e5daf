// Bytes on a socket, for requests that no HTTP client would send.
import { connect } from 'node:net'

export interface RawAnswer { status: number, contentType: string | undefined, text: string }

/** Sends `bytes` as they are and reads until the server ends the connection, which the request must make it do. */
export async function sendRaw (url: string, bytes: string): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => { answer += text })
  socket.write(bytes)
  await new Promise<void>((resolve, reject) => socket.on('close', () => resolve()).on('error', reject))
  const [head = '', ...rest] = answer.split('\r\n\r\n')
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]),
    contentType: /^content-type: (.*)$/im.exec(head)?.[1],
    text: rest.join('\r\n\r\n')
  }
}
