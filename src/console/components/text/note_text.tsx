import { lazyPart } from '#console/components/lazy_part.tsx';

const Rendered = lazyPart(() => import('#console/components/text/markdown.tsx').then((m) => m.Rendered));

/** Whether a text may hold Markdown; most notes do not, and then nothing more is loaded. */
const MARKED_UP = /[*_`~>[\]#|\\]|https?:|www\.|@|^\s*(?:[-+]|\d+[.)])\s/m;

const PLAIN = { margin: 0, whiteSpace: 'pre-wrap' } as const;

/** Text that people or programs wrote, with the links, lists and emphasis of Markdown. */
export function NoteText({ children }: { readonly children: string }) {
  const plain = (
    <p style={PLAIN} dir="auto">
      {children}
    </p>
  );
  if (!MARKED_UP.test(children)) return plain;
  return (
    <Rendered whileLoading={plain} onLost={() => {}}>
      {children}
    </Rendered>
  );
}
