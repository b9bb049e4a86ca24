import { homedir } from 'node:os';
import { findFileFault, findKeyAdvice, lookAtLogin } from '../../app/doctor/sheet.ts';
import type { Question, Step } from './step.ts';

/** Asks again with what did not do, so that only what is wrong has to be typed. */
const withBefore = (question: string, before: string | undefined): string =>
  before === undefined ? `${question}: ` : `${question} [${before}]: `;

/** Of a spreadsheet's address or id, the id. */
export const readSpreadsheetId = (text: string): string => /\/d\/([\w-]+)/.exec(text)?.[1] ?? text;

const scopesForCatalog = ['scope read:pipelines', 'scope read:lead_statuses', 'scope read:custom_fields'];

const addressQuestion: Question = {
  variable: 'CRM_BASE_URL',
  blamedBy: ['CRM connection', 'CRM envelope'],
  ask: (person, _answers, before) =>
    person.ask(withBefore('Address of the CRM, like https://crm.example.com/api/v1/external', before)),
};

/** Both are asked for later. */
const laterSpreadsheet = { GOOGLE_SPREADSHEET_ID: 'none-yet' };
const laterKey = { CRM_API_KEY: `svc_live_${'0'.repeat(64)}` };

/** Where the CRM is. Asked with a key that is none, so that no other server gets the real one. */
export const addressStep: Step = {
  parts: ['crm'],
  questions: [addressQuestion],
  standIns: { ...laterKey, ...laterSpreadsheet },
  shows: ['settings', 'CRM address', 'CRM connection', 'CRM envelope'],
  proof: 'CRM envelope',
  proven: 'A CRM answers there.',
};

/** The key of the CRM, and its address once more where that is why the key does not do. */
export const crmStep: Step = {
  parts: ['crm'],
  questions: [
    addressQuestion,
    {
      variable: 'CRM_API_KEY',
      blamedBy: ['CRM key', ...scopesForCatalog],
      ask: (person) =>
        person.askSecretly('Key of the CRM, which begins with svc_live_ and is not shown here: '),
    },
  ],
  standIns: laterSpreadsheet,
  proof: 'CRM catalog',
  proven: 'The CRM answers and accepts the key.',
};

/** Keys last: organisations forbid them by default, and then nothing else of Google's console says how to go on. */
export const loginWords = [
  'The login to Google, step by step; more is in src/manual/operating.md, “Log in to Google”:',
  '  1. a project            https://console.cloud.google.com/projectcreate',
  '  2. the Sheets API in it https://console.cloud.google.com/apis/library/sheets.googleapis.com  (Enable)',
  '  3. a service account    https://console.cloud.google.com/iam-admin/serviceaccounts  (without a role; note its address)',
  '  4. a login as that account. Organisations forbid key files by default (iam.disableServiceAccountKeyCreation,',
  '     “Service account key creation is disabled”), so log in without one:',
  '       your own machine   gcloud auth application-default login --impersonate-service-account=ADDRESS',
  '                          and leave the answer empty',
  '       Google Cloud       attach the account to the machine, and leave the answer empty',
  '       elsewhere          name the file of a workload identity federation',
  '       if keys are allowed and nothing else is possible: the account, Keys, Add key, JSON; name that file',
];

const personalAccount = 'the address that you logged in with';
const lookMs = 10_000;

/** Which spreadsheet, and who logs in to it. */
export const sheetStep: Step = {
  parts: ['sheet'],
  questions: [
    {
      variable: 'GOOGLE_APPLICATION_CREDENTIALS',
      blamedBy: ['Google login'],
      async ask(person, _answers, before) {
        if (before === undefined) person.tell(...loginWords);
        const question = 'Credentials file of Google, or nothing for the login of this machine';
        for (;;) {
          const answer = await person.ask(withBefore(question, before));
          // A shell would have made a path of it.
          const file = answer.replace(/^~(?=\/)/, homedir());
          const fault = findKeyAdvice(answer) ?? (file === '' ? undefined : findFileFault(file));
          if (fault === undefined) return file;
          person.tell(fault);
        }
      },
    },
    {
      variable: 'GOOGLE_SPREADSHEET_ID',
      blamedBy: ['spreadsheet'],
      async ask(person, answers, before) {
        const credentialsFile = answers['GOOGLE_APPLICATION_CREDENTIALS'];
        const login = await lookAtLogin({ credentialsFile, timeoutMs: lookMs });
        if (login) person.tell(`Share the spreadsheet, as editor, with  ${login.account ?? personalAccount}`);
        return readSpreadsheetId(await person.ask(withBefore('Address or id of the spreadsheet', before)));
      },
    },
  ],
  standIns: {},
  // What is to be laid out is no trouble.
  shows: ['settings', 'Google login', 'spreadsheet'],
  isRetried: true,
  proof: 'spreadsheet',
  proven: 'Google lets the daemon in to the spreadsheet.',
};

/** The database, where one is named: no question asks for it. */
export const warehouseStep: Step = {
  parts: ['warehouse'],
  questions: [
    {
      variable: 'WAREHOUSE_URL',
      blamedBy: ['warehouse'],
      ask: (person) => person.askSecretly('Address of the database, which is not shown here: '),
    },
  ],
  standIns: {},
  proof: 'warehouse',
  proven: 'The database lets the daemon in.',
};

/** What the machine has to have. */
export const machineStep: Step = {
  parts: ['machine', 'queue'],
  questions: [],
  standIns: {},
  proof: 'state directory',
  proven: 'This machine has what the daemon needs.',
};
