import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a server shows who it is with, and what somebody needs to take it for that. */
export interface Certificate {
  readonly key: Buffer;
  readonly cert: Buffer;
  readonly file: string;
}

/** Makes one in the directory, signed by itself, for a name such as `DNS:example.com` or `IP:127.0.0.1`. */
export function createCertificate(directory: string, name: string): Certificate {
  const [keyFile, file] = [join(directory, 'tls-key.pem'), join(directory, 'tls.pem')];
  const subject = ['-subj', '/CN=A server of a test', '-addext', `subjectAltName=${name}`, '-days', '2'];
  const files = ['-keyout', keyFile, '-out', file];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...files], {
    stdio: 'ignore',
  });
  return { key: readFileSync(keyFile), cert: readFileSync(file), file };
}
