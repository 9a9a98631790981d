import type { ComponentProps, ReactElement } from 'react';

interface IconProps extends Omit<ComponentProps<'svg'>, 'stroke'> {
  /** Width and height in pixels. */
  readonly size?: number;
  /** Width of the lines of an icon of 24 pixels. */
  readonly stroke?: number;
}

export type Icon = (props: IconProps) => ReactElement;

/** Makes the component of an icon that is drawn with lines. */
export function icon(...lines: readonly string[]): Icon {
  return ({ size = 24, stroke = 2, color = 'currentColor', ...rest }) => (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke={color}
      strokeWidth={stroke}
      strokeLinecap="round"
      strokeLinejoin="round"
      {...rest}
    >
      {lines.map((line) => (
        <path key={line} d={line} />
      ))}
    </svg>
  );
}
