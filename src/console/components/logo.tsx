interface LogoProps {
  readonly className: string | undefined;
  /** Alternative text; empty beside text that says the same. */
  readonly alt: string;
}

/** Logo as in public/favicon.svg; drawn in the page, so that it is there at once. */
export function Logo({ className, alt }: LogoProps) {
  return (
    <svg
      className={className}
      viewBox="0 0 64 64"
      {...(alt === '' ? { 'aria-hidden': true } : { role: 'img', 'aria-label': alt })}
    >
      <rect width="64" height="64" rx="15" fill="#d93a41" />
      <path
        d="M32 14.500c-6.700 0-11.300 5.100-11.300 12.200 0 7.600-1.300 11.700-4.500 15.100-.8.900-.2 2.200 1 2.200h29.600c1.200 0 1.800-1.300 1-2.200-3.200-3.400-4.500-7.500-4.500-15.100 0-7.100-4.600-12.200-11.300-12.200z"
        fill="#fff"
      />
      <circle cx="32" cy="13.500" r="2.700" fill="#fff" />
      <path d="M27 47.500a5 5 0 0 0 10 0z" fill="#fff" />
    </svg>
  );
}
