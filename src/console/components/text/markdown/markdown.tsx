import { lazyPart } from '#console/components/lazy_part.tsx';
import classes from '#console/components/text/markdown/markdown.module.css';

const Rendered = lazyPart(() => import('#console/components/text/markdown/rendered.tsx').then((m) => m.Rendered));

/** Whether a text may hold Markdown; most notes do not, and then nothing more is loaded. */
const MARKED_UP = /[*_`~>[\]#|\\]|https?:|www\.|@|^\s*(?:[-+]|\d+[.)])\s/m;

/** Text that people or programs wrote, with the links, lists and emphasis of Markdown. */
export function Markdown({ children }: { readonly children: string }) {
  const plain = <p dir="auto">{children}</p>;
  return (
    <div className={classes.markdown}>
      {MARKED_UP.test(children) ? (
        <Rendered whileLoading={plain} onLost={() => {}}>
          {children}
        </Rendered>
      ) : (
        plain
      )}
    </div>
  );
}
