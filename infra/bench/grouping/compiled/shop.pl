use strict; use warnings; use JSON::PP;
sub pay { my ($step) = @_; my $result = $step->(17); return $result }
sub declined { MORE my $x = pay(sub { die "order 17 was declined\n" }); return $x }
sub nested { MORE my $x = pay(sub { MORE my $y = pay(sub { die "no stock\n" }); return $y }); return $x }
my %mistakes = (declined => \&declined, nested => \&nested);
my @thrown;
for my $label (sort keys %mistakes) {
  my @frames;
  local $SIG{__DIE__} = sub {
    for (my $at = 1; my @call = caller($at); $at++) {
      next if $call[3] eq '(eval)';
      unshift @frames, { function => $call[3], abs_path => $call[1], filename => 'shop.pl', lineno => $call[2], in_app => JSON::PP::true };
    }
  };
  eval { $mistakes{$label}->(); 1 } or push @thrown, { label => "perl $label", type => 'die', value => $@, frames => \@frames };
}
print encode_json(\@thrown);
