import { isolateBidi } from '#console/components/text/bidi.ts';

/** Returns the text of a day's deploy mark: `shop@1.4.0 deployed`. */
export function deployText({ release, count }: { readonly release: string; readonly count: number }): string {
  return `${isolateBidi(release)} deployed${count === 1 ? '' : `, the last of ${count} deploys`}`;
}
