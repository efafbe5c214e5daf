// A certificate of this machine's own address, for receivers over https.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

export interface Certificate { key: Buffer, cert: Buffer, certFile: string }

/** Signed by itself, for a day. @param dir that it is written to @throws where there is no openssl */
export async function ownCertificate (dir: string): Promise<Certificate> {
  const [keyFile, certFile] = [join(dir, 'receiver-key.pem'), join(dir, 'receiver-cert.pem')]
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile, '-out', certFile]
  const saying = ['-days', '1', '-subj', '/CN=receiver', '-addext', 'subjectAltName=IP:127.0.0.1']
  await promisify(execFile)('openssl', ['req', '-x509', ...made, ...saying]).catch((cause: unknown) => {
    throw new Error('--https needs openssl on the PATH, which makes the certificate of the receivers', { cause })
  })
  return { key: readFileSync(keyFile), cert: readFileSync(certFile), certFile }
}
