import { existsSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { configFileOf, type Environment, loadLinks } from '../../app/config.ts';
import { readConfigFile, secretFilePath, type Tree, valueAt } from '../../app/config-sources.ts';
import { type EnvironmentVariable, environmentVariables } from '../../app/settings.ts';
import { SyncError } from '../../core/errors.ts';
import { isObject } from '../../core/facts.ts';
import { printError } from '../command.ts';
import { loginOfUser } from './docker.ts';

const service = 'crm-sheet-sync';
const credentials = 'GOOGLE_APPLICATION_CREDENTIALS';
const program = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');

/**
 * A unit for systemd that runs the daemon of these settings from where the program is. It holds no secret: systemd hands the files on.
 * Fails with CONFIG_INVALID over settings that are not valid, or a secret that is in no file.
 */
export function describeUnit(environment: Environment): string[] {
  loadLinks(environment);
  const files = listFiles(environment).flatMap(({ file, variable }) => {
    const name = variable.toLowerCase().replaceAll('_', '-');
    return [`LoadCredential=${name}:${escapeUnit(resolve(file))}`, `Environment=${variable}=%d/${name}`];
  });
  return [
    '# What to do with this unit is in the manual, in “Run it by systemd”.',
    '[Unit]',
    'Description=Keeps a CRM, a Google Sheet and a warehouse in sync',
    'Wants=network-online.target',
    'After=network-online.target',
    '',
    '[Service]',
    'Type=exec',
    `ExecStart=${[process.execPath, ...memoryFlags, `${program}/src/main.ts`, 'start'].map(quote).join(' ')}`,
    'Environment=MALLOC_TRIM_THRESHOLD_=131072',
    `WorkingDirectory=${escapeUnit(program)}`,
    'Restart=on-failure',
    'RestartSec=10',
    '# Settings that are wrong do not become right by themselves.',
    'RestartPreventExitStatus=2',
    '# Longer than stopGraceMs.',
    'TimeoutStopSec=70',
    '',
    ...describeUser(),
    `StateDirectory=${service}`,
    'StateDirectoryMode=0700',
    `Environment=STATE_DIR=%S/${service}`,
    ...listPlain(environment),
    ...files,
    '',
    ...hardening,
    '',
    '[Install]',
    'WantedBy=multi-user.target',
  ];
}

/** As in the image. */
const memoryFlags = ['--max-semi-space-size=8', '--heap-growing-percent=20'];

/** Node compiles while it runs, so memory that is written and run stays allowed; names are looked up by netlink. */
const hardening = [
  'UMask=0077',
  'NoNewPrivileges=yes',
  'CapabilityBoundingSet=',
  'ProtectHome=read-only',
  'ProtectSystem=strict',
  'PrivateTmp=yes',
  'PrivateDevices=yes',
  'ProtectClock=yes',
  'ProtectControlGroups=yes',
  'ProtectHostname=yes',
  'ProtectKernelLogs=yes',
  'ProtectKernelModules=yes',
  'ProtectKernelTunables=yes',
  'ProtectProc=invisible',
  'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK',
  'RestrictNamespaces=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'LockPersonality=yes',
  'SystemCallArchitectures=native',
  'SystemCallFilter=@system-service',
  'SystemCallErrorNumber=EPERM',
];

/** A user that exists only while the daemon runs, where such a one can read the program. */
function describeUser(): string[] {
  const { uid, username } = userInfo();
  const isOpen = isOpenToAll(program) && isOpenToAll(process.execPath);
  if (!isOpen && uid !== 0) return [`User=${username}`];
  if (!isOpen)
    printError(
      `Other users can not read ${program}: move it, to /opt for example, and print the unit there.`,
    );
  return ['DynamicUser=yes'];
}

function isOpenToAll(path: string): boolean {
  const above = dirname(path);
  return (statSync(path).mode & 0o001) !== 0 && (above === path || isOpenToAll(above));
}

/** Files that the daemon needs, each with the variable that names it: their owners need not be the user of the daemon. */
function listFiles(environment: Environment): { readonly variable: string; readonly file: string }[] {
  const config = configFileOf(environment);
  const tree = existsSync(config) ? readConfigFile(config, true) : {};
  const links = isObject(tree['links']) ? Object.entries(tree['links']) : [];
  const found = [
    ...findFiles(environment, tree, ''),
    ...links.flatMap(([name, own]) =>
      isObject(own) ? findFiles(environment, own, `_${name.toUpperCase().replaceAll('-', '_')}`) : [],
    ),
  ];
  const hasLogin = found.some(({ variable }) => variable.startsWith(credentials));
  return [
    ...(existsSync(config) ? [{ variable: 'CRM_SYNC_CONFIG', file: config }] : []),
    ...found,
    ...(!hasLogin && existsSync(loginOfUser) ? [{ variable: credentials, file: loginOfUser }] : []),
  ];
}

function findFiles(environment: Environment, tree: Tree, suffix: string) {
  const fileOf = ({ isSecret, name, path }: EnvironmentVariable) => {
    const variable = `${name}${suffix}${isSecret ? '_FILE' : ''}`;
    const file = environment[variable] || valueAt(tree, isSecret ? secretFilePath(path) : path);
    return typeof file === 'string' ? [{ variable, file }] : [];
  };
  return environmentVariables
    .filter(({ isSecret, name }) => isSecret || name === credentials)
    .flatMap(fileOf);
}

/** What the environment says beside files. */
function listPlain(environment: Environment): string[] {
  const names = environmentVariables.filter(({ name }) => ![credentials, 'STATE_DIR'].includes(name));
  return Object.entries(environment).flatMap(([name, value]) => {
    const variable = names.find((each) => name === each.name || name.startsWith(`${each.name}_`));
    if (!variable || !value || name.endsWith('_FILE')) return [];
    if (!variable.isSecret) return [`Environment=${quote(`${name}=${value}`)}`];
    const message = `${name} is a secret, which the unit would show to everyone. Put it into a file, and name that in ${name}_FILE.`;
    throw new SyncError('CONFIG_INVALID', message);
  });
}

/** A sign of per cent begins what systemd puts in. */
const escapeUnit = (text: string): string => text.replaceAll('%', '%%');
const quote = (text: string): string =>
  /^[\w:/.,=@-]*$/.test(text) ? text : `"${escapeUnit(text).replace(/["\\]/g, '\\$&')}"`;
