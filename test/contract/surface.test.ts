import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { ACCOUNT_OPERATIONS, ACTION_GROUPS, ACTIONS, CONSOLE_OPERATIONS } from '#actions/registry.ts';
import { RESPONDER_TOOLS } from '#modules/agents/operations/responder_tools.ts';
import { componentSchemas, toOpenApiSchema } from '#entry/http/openapi/schemas.ts';
import { ACTIONS_PATH } from '#entry/http/rest.ts';
import { ERROR_CODES } from '#kernel/errors.ts';
import { CONTRACT } from '#test/contract/action_api.ts';
import { PAGE_ROUTES } from '#entry/http/console_pages.ts';
import { world } from '#test/kit/world.ts';

const ROOT = path.join(import.meta.dirname, '../..');

test('the actions are those of the contract, in its order and under its headings, with its permissions and properties', () => {
  const declared = ACTION_GROUPS.flatMap(({ heading, actions }) =>
    actions.map(({ name, permission, input }) => ({
      heading,
      action: name,
      permission,
      body: Object.keys(input.properties).map((property) =>
        (input.required ?? []).includes(property) ? `${property}*` : property,
      ),
    })),
  );
  expect(declared).toEqual(CONTRACT);
});

test('every action or operation of the console is registered; a file that declares one alone bears its name', () => {
  const inConsole = new Set<string>(CONSOLE_OPERATIONS.map(({ name }) => name));
  const ofResponders = RESPONDER_TOOLS.filter(({ name, consoleOnly }) => consoleOnly === true && !inConsole.has(name));
  expect(RESPONDER_TOOLS.length).toBeLessThanOrEqual(9);
  const registered = [...ACTIONS, ...CONSOLE_OPERATIONS, ...ACCOUNT_OPERATIONS, ...ofResponders];
  const folder = path.join(ROOT, 'src/modules');
  const declared = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((file) =>
      [
        ...readFileSync(path.join(folder, file), 'utf8').matchAll(/= define(?:Action|Operation)\(\{\s+name: '(\w+)'/g),
      ].map(([, name = '']) => ({ file, name })),
    );
  const perFile = Object.values(Object.groupBy(declared, ({ file }) => file));
  const alone = perFile.flatMap((operations) => (operations?.length === 1 ? operations : []));
  expect(alone.length).toBeGreaterThan(30);
  expect(alone.filter(({ file, name }) => path.basename(file, '.ts') !== name)).toEqual([]);
  expect(new Set(declared.map(({ name }) => name))).toEqual(new Set(registered.map(({ name }) => name)));
  expect(declared).toHaveLength(registered.length);
});

test('each action says whether it reads, changes or deletes', () => {
  for (const { name, permission, effect } of ACTIONS) {
    expect(effect === 'read', name).toBe(permission.endsWith(':view'));
    expect(effect === 'delete', name).toBe(/^(delete|remove)_|^set_retention$|^rotate_ingest_key$/.test(name));
  }
});

test('every body is a closed object, and so is every object in it but widgets', () => {
  const open = (schema: Record<string, unknown>, where: string): string[] => {
    const { type, additionalProperties, properties = {}, items } = schema;
    const inner = [...Object.entries(properties as object), ...(items === undefined ? [] : [['[]', items] as const])];
    return [
      ...(type === 'object' && additionalProperties !== false ? [where] : []),
      ...inner.flatMap(([name, part]) => open(part as Record<string, unknown>, `${where}.${name}`)),
    ];
  };
  const widgets = ['create_dashboard', 'update_dashboard', 'save_dashboard'].flatMap((name) => [
    `${name}.layout.[]`,
    `${name}.layout.[].grid`,
  ]);
  expect([...ACTIONS, ...CONSOLE_OPERATIONS].flatMap(({ name, input }) => open(input, name))).toEqual(widgets);
});

test('every summary says in sentences what the action does', () => {
  for (const { name, summary } of [...ACTIONS, ...CONSOLE_OPERATIONS, ...ACCOUNT_OPERATIONS]) {
    expect(summary, name).toMatch(/^[A-Z].*\.$/);
    expect(summary.length, name).toBeLessThan(400);
  }
});

test('the public surface is as it was: a change of it is a decision', async () => {
  const w = await world();
  const lines = [
    ...ACTIONS.flatMap(({ name, permission, effect, conflict, input, result }) => [
      `action ${name} ${permission} ${effect}${conflict === undefined ? '' : ` (409: ${conflict})`}`,
      `  body ${JSON.stringify(toOpenApiSchema(input))}`,
      `  result ${JSON.stringify(toOpenApiSchema(result))}`,
    ]),
    ...Object.entries(componentSchemas()).map(([name, schema]) => `schema ${name} ${JSON.stringify(schema)}`),
    ...Object.entries(ERROR_CODES).map(([code, status]) => `error ${code} ${status}`),
    ...routesOf(w.app.printRoutes({ commonPrefix: false }))
      .filter((route) => !PAGES_OF_CONSOLE.has(route))
      .map((route) => `route ${route}`),
  ];
  expect(w.app.hasRoute({ method: 'POST', url: `${ACTIONS_PATH}/*` })).toBe(true);
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('surface.txt');
});

/** People reach them by links of the product: no program is written for them. */
const PAGES_OF_CONSOLE = new Set(PAGE_ROUTES.map((route) => `${route} GET`));

/** The tree of routes as a flat list, `/path METHODS` a line. A wildcard shows in the tree without its path. */
function routesOf(tree: string): string[] {
  const parents: string[] = [];
  const lines = tree.split('\n').flatMap((line) => {
    const match = /^(.*?(?:├── |└── ))(.*?)(?: \(([A-Z, -]+)\))?$/.exec(line);
    if (match === null) return [];
    const depth = match[1]!.length / 4 - 1;
    parents.splice(depth, parents.length, match[2]!);
    const methods = (match[3] ?? '')
      .split(', ')
      .filter((method) => ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(method));
    return methods.length === 0 || match[2] === '*' ? [] : [`${parents.join('')} ${methods.join(',')}`];
  });
  return [...new Set(lines)].toSorted();
}
