import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { tryToExecute } from './execute.ts';
import { Unavailable } from './report.ts';
import type { Tools } from './tools.ts';

/** An object that a chart has rendered. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly [field: string]: unknown;
}

const COMPILER = path.resolve(import.meta.dirname, '../../../node_modules/typescript/bin/tsc');

/** Packages with the types of what Kubernetes itself does not have. */
const PACKAGES: Readonly<Record<string, string>> = {
  'keda.sh': '@kubernetes-models/keda',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
};

const moduleOf = ({ apiVersion, kind }: KubernetesObject): string => {
  const [group = ''] = apiVersion.split('/');
  return `${PACKAGES[group] ?? 'kubernetes-models'}/${apiVersion}/${kind}`;
};

/** The objects in the output of "helm template", read as Kubernetes reads YAML. */
export async function parseObjects(tools: Tools, yaml: string): Promise<KubernetesObject[]> {
  const { parseAllDocuments } = (await loadTool(tools, 'yaml')) as {
    parseAllDocuments: (text: string, options: object) => { toJS(): unknown }[];
  };
  return parseAllDocuments(yaml, { version: '1.1', merge: true })
    .map((document) => document.toJS())
    .filter((object) => object !== null)
    .map((object) => object as KubernetesObject);
}

/** Finds unknown and missing fields, wrong types, and values out of bounds. */
export async function findObjectFaults(tools: Tools, objects: readonly KubernetesObject[]): Promise<string[]> {
  const invalid = await Promise.all(objects.map((object) => findValueFault(tools, object)));
  return [...invalid.filter((fault) => fault !== null), ...(await findTypeFaults(tools, objects))];
}

/**
 * Checks an object by the schema of its kind: required fields, patterns, enumerations, bounds. Unknown fields are
 * ignored.
 */
async function findValueFault(tools: Tools, object: KubernetesObject): Promise<string | null> {
  const { kind, metadata } = object;
  const loaded = (await loadTool(tools, moduleOf(object))) as Record<
    string,
    new (data: object) => { validate(): void }
  >;
  const Model = loaded[kind];
  if (Model === undefined) return `${kind} ${metadata.name}: there is no such kind in ${object.apiVersion}`;
  try {
    new Model(object).validate();
    return null;
  } catch (error) {
    return `${kind} ${metadata.name}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Looks the package up from where the tools are. */
async function loadTool({ folder }: Tools, name: string): Promise<unknown> {
  const file = path.join(folder, 'load.mjs');
  if (!existsSync(file)) writeFileSync(file, 'export const load = (name) => import(name);\n');
  const { load } = (await import(pathToFileURL(file).href)) as { load: (name: string) => Promise<unknown> };
  return await load(name);
}

/** The compiler knows which fields each type has, and refuses literals that have others. */
async function findTypeFaults({ folder }: Tools, objects: readonly KubernetesObject[]): Promise<string[]> {
  const work = mkdtempSync(path.join(folder, 'typed-'));
  try {
    const lines = objects.map((object, index) => {
      const literal = JSON.stringify(object);
      return `import type { I${object.kind} as T${index} } from '${moduleOf(object)}'; export const o${index}: T${index} = ${literal};`;
    });
    writeFileSync(path.join(work, 'objects.ts'), `${lines.join('\n')}\n`);
    const compilerOptions = {
      target: 'es2024',
      module: 'esnext',
      moduleResolution: 'bundler',
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: [],
    };
    writeFileSync(path.join(work, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['objects.ts'] }));
    const args = [COMPILER, '-p', path.join(work, 'tsconfig.json'), '--pretty', 'false'];
    const { code, stdout } = await tryToExecute(process.execPath, args, { secondsMax: 120 });
    if (code === 0) return [];
    if (code === null) throw new Unavailable('the compiler did not end in time on this machine');
    return stdout
      .trim()
      .split('\n')
      .map((line) => {
        const object = objects[Number(/objects\.ts\((\d+),/.exec(line)?.[1] ?? 0) - 1];
        return object === undefined
          ? line
          : `${object.kind} ${object.metadata.name}: ${line.replace(/^.*?error /, '')}`;
      });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
