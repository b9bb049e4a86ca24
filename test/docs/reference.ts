import type { Command } from 'commander';
import { errorsTable, settingsTable } from '../../src/app/tables.ts';
import { conditionsTable } from './conditions-table.ts';
import { anchorOf } from './markdown.ts';
import { routesTable } from './routes-table.ts';

/** What the reference is made of, besides the settings and errors, which are tables of the program itself. */
export interface ReferenceSources {
  readonly program: Command;
  /** Method and address of each route, such as `GET /healthz`. */
  readonly routes: readonly string[];
  /** What `/metrics` answers. */
  readonly metrics: string;
}

/** The whole page in Markdown. */
export function renderReference({ metrics, program, routes }: ReferenceSources): string {
  const sections: readonly [heading: string, text: string][] = [
    ['Commands', describeCommands(program)],
    ['Settings', `${settingsIntro}\n\n${settingsTable()}`],
    ['Errors', errorsTable()],
    ['Conditions', `${conditionsIntro}\n\n${conditionsTable()}`],
    ['HTTP', `${httpIntro}\n\n${routesTable(routes)}`],
    ['Metrics', `${metricsIntro}\n\n${metricsTable(metrics)}`],
  ];
  const body = sections.map(([heading, text]) => `## ${heading}\n\n${text}\n`).join('\n');
  return `${intro}\n\n${tableOfContents(body)}\n\n${body}`;
}

const intro = `# Reference

Every command, setting, error, condition, address and metric. \`npm run reference\` writes this page from the code: change it there.
[Operating the daemon](operating.md) says when to use what.`;

const settingsIntro = `A dot is a level in the file \`config/crm-sheet-sync.yaml\`. \`<tab>\` is \`leads\`, \`opportunities\`, \`tasks\` or \`contacts\`, \`<field>\` the name
of a field, \`<link>\` the name of a link, \`<id>\` the id of a user. [Operating the daemon](operating.md#settings) says where settings and secrets may come from.`;

const conditionsIntro = `\`/healthz\` is red while a condition makes the daemon not alive, \`/readyz\` while one makes it not alive or not ready. A degraded
daemon does all of its work, but a person should know.`;

const httpIntro = `The token goes in the header \`Authorization: Bearer …\`; the column says what it has to let do. “To read” needs one where other machines reach the daemon, as in Docker,
and where \`http.readWithToken\` is set: [security](operating.md#security). Bodies and answers are JSON. A request that is refused is
answered with \`{"error": "…"}\`. With several links each has these addresses below \`/links/<name>/\`. 503 with \`Retry-After\` says that too
many long answers wait for slow readers; a reader who takes nothing for half a minute, and longer than a slow line needs, is cut off.`;

const metricsIntro = `\`/metrics\` also has the usual numbers of a Node process, the lag of its event loop among them. Labels are \`tab\`, \`side\` and \`to\` (\`crm\`,
\`sheet\` or \`warehouse\`), \`condition\`, \`code\`, \`lane\`, \`outcome\`, and \`link\` where there are several.`;

/** A link to each section, with those of its parts behind it. */
function tableOfContents(body: string): string {
  const linkTo = (name: string, heading: string) => `[${name}](#${anchorOf(heading)})`;
  return body
    .split(/^(?=## )/m)
    .map((section) => {
      const [, heading = ''] = /^## (.*)$/m.exec(section) ?? [];
      const parts = [...section.matchAll(/^### (.*)$/gm)].map(([, part = '']) =>
        linkTo(part.replace(commandHeading, ''), part),
      );
      return `- ${[linkTo(heading, heading), parts.join(', ')].filter((text) => text !== '').join(': ')}`;
    })
    .join('\n');
}

/** Of commands, whose names are those of sections as well. */
const commandHeading = 'Command ';

const callIntro = `Called as \`npm run cli -- <command>\`, or \`node src/main.ts <command>\` with Node 24, which the project brings along as
\`node_modules/.bin/node\`.`;

function describeCommands(program: Command): string {
  const ownOptions = optionsTable(program);
  const [, exitCodesText = ''] = /^(Exit codes: .*)$/m.exec(helpAfter(program)) ?? [];
  const commands = program.commands.map(describeCommand);
  return [callIntro, exitCodesText, `Every command takes:\n\n${ownOptions}`, ...commands].join('\n\n');
}

function describeCommand(command: Command): string {
  const options = command.options.length > 0 ? [optionsTable(command)] : [];
  const words = command.registeredArguments.filter(({ description }) => description !== '');
  const lines = words.map((word) => `\`${word.name()}\`: ${word.description}.`);
  return [
    `### ${commandHeading}${command.name()}`,
    `\`${command.name()}${usageOf(command)}\``,
    sentence(command.description()),
    ...lines,
    ...options,
    ...explanationOf(command),
    ['```sh', ...examplesOf(command).map((line) => `npm run cli -- ${line}`), '```'].join('\n'),
  ].join('\n\n');
}

/** What is typed behind the name; the library says of every command that it has options. */
const usageOf = (command: Command): string =>
  ` ${command.usage()}`.replace(command.options.length > 0 ? '' : ' [options]', '');

const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;

function optionsTable({ options }: Command): string {
  const lines = options.map(({ argChoices, defaultValue, description, flags }) => {
    const choices = argChoices ? ` One of ${argChoices.join(', ')}.` : '';
    const initial = defaultValue === undefined || defaultValue === true ? '' : ` By default ${defaultValue}.`;
    return `| \`${flags}\` | ${sentence(description)}${choices}${initial} |`;
  });
  return ['| option | meaning |', '|---|---|', ...lines].join('\n');
}

/** What the help of a command ends with: an explanation where there is one, and examples. */
function helpAfter(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (words) => (text += words) }).outputHelp();
  return text.slice(command.helpInformation().length);
}

const explanationOf = (command: Command): string[] => {
  const [explanation = ''] = helpAfter(command).split('\nExamples:\n');
  const text = explanation
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll(/<([a-z]+)>/g, '\\<$1>');
  return text === '' ? [] : [text];
};

const examplesOf = (command: Command): string[] => {
  const [, examples = ''] = helpAfter(command).split('\nExamples:\n');
  return examples.trim().split(/\n */);
};

/** Of the program's own metrics name, kind and meaning, from what Prometheus reads. */
function metricsTable(metrics: string): string {
  const kinds = new Map(
    [...metrics.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name, kind]) => [name, kind]),
  );
  const lines = [...metrics.matchAll(/^# HELP (crm_sheet_sync_\w+) (.*)$/gm)].map(
    ([, name = '', help = '']) => `| \`${name}\` | ${kinds.get(name)} | ${help} |`,
  );
  return ['| metric | kind | meaning |', '|---|---|---|', ...lines].join('\n');
}
