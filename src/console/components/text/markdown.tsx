import { Fragment, type ReactNode } from 'react';

import { withoutBidiControls } from '#console/components/text/bidi.ts';
import classes from '#console/components/text/markdown.module.css';
import { type Node, treeOf } from '#console/components/text/markdown_tree.ts';

/** Text in Markdown as elements. No part of it becomes HTML, so nothing in it can run or load. */
export function Rendered({ children }: { readonly children: string }) {
  return <div className={classes.markdown}>{all(treeOf(withoutBidiControls(children)))}</div>;
}

function all(nodes: readonly Node[]): ReactNode {
  // The parts of a text never change places.
  // eslint-disable-next-line react/no-array-index-key
  return nodes.map((node, index) => <Fragment key={index}>{element(node)}</Fragment>);
}

function element(node: Node): ReactNode {
  switch (node.kind) {
    case 'text':
      return node.text;
    case 'code':
      return <code>{node.text}</code>;
    case 'code_block':
      return (
        <pre tabIndex={0}>
          <code>{node.text}</code>
        </pre>
      );
    case 'link':
      return (
        <a href={node.href} title={node.href} target="_blank" rel="noopener noreferrer nofollow">
          <bdi>{node.text}</bdi>
        </a>
      );
    case 'break':
      return <br />;
    case 'rule':
      return <hr />;
    case 'paragraph':
      return <p dir="auto">{all(node.nodes)}</p>;
    case 'strong':
      return <strong>{all(node.nodes)}</strong>;
    case 'em':
      return <em>{all(node.nodes)}</em>;
    case 'del':
      return <del>{all(node.nodes)}</del>;
    case 'quote':
      return <blockquote>{all(node.nodes)}</blockquote>;
    case 'list':
      return <ul dir="auto">{all(node.nodes)}</ul>;
    case 'ordered_list':
      return <ol dir="auto">{all(node.nodes)}</ol>;
    case 'item':
      return <li>{all(node.nodes)}</li>;
  }
}
