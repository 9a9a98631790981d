import { isolateBidi } from '#console/components/bidi.ts';

/** What a mark of a day stands for: `shop@1.4.0 deployed`. */
export function deployText({ release, count }: { readonly release: string; readonly count: number }): string {
  return `${isolateBidi(release)} deployed${count === 1 ? '' : `, the last of ${count} deploys`}`;
}
