import { PATH_LENGTH_MAX } from '#ingest/protocols/sentry/values.ts';
import { debugIdOf } from '#modules/releases/decide/source_maps/debug_id.ts';
import { asList, asObject } from '#ingest/protocols/sentry/json.ts';

const IMAGES_MAX = 200;

/** The debug ids of source maps by the path of their code. Undefined when there is none; images of native code are not. */
export function asDebugIds(debugMeta: unknown): Readonly<Record<string, string>> | undefined {
  const images = asList(asObject(debugMeta)?.['images']).slice(0, IMAGES_MAX).map(asObject);
  const debugIds = images.flatMap((image): [string, string][] => {
    if (image === null || image['type'] !== 'sourcemap') return [];
    const [path, debugId] = [image['code_file'], debugIdOf(image['debug_id'])];
    const isPath = typeof path === 'string' && path !== '' && path.length <= PATH_LENGTH_MAX;
    return isPath && debugId !== null ? [[path, debugId]] : [];
  });
  return debugIds.length === 0 ? undefined : Object.fromEntries(debugIds);
}
