package main

import (
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/lab/internal/replay"
)

// writeReliability writes a picture of how often the answers of a voter are right, by its confidence, as SVG.
func writeReliability(path string, lines []replay.Line, voter string) error {
	for _, l := range lines {
		if l.Voter == voter && (l.Pool == replay.AllPools || len(lines) == 1) {
			return os.WriteFile(path, []byte(reliabilityPicture(l.Outcomes)), 0o644)
		}
	}
	return fmt.Errorf("--reliability: the voter %s voted in no two pools", voter)
}

// bins are the tenths of confidence.
const bins = 10

// reliabilityPicture has a bar a tenth of confidence: the share of right answers, its 95 % interval (Wilson), and the
// number of questions.
func reliabilityPicture(outcomes []eval.Outcome) string {
	var n, right, sure [bins]float64
	for _, o := range outcomes {
		i := min(int(o.Confidence*bins), bins-1)
		n[i]++
		right[i] += o.Score
		sure[i] += o.Confidence
	}
	const left, top, side = 56.0, 40.0, 360.0
	x := func(v float64) float64 { return left + side*v }
	y := func(v float64) float64 { return top + side*(1-v) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="440" height="470" viewBox="0 0 440 470" role="img"
 aria-label="Share of right answers by confidence">
<style>text{font:12px system-ui,sans-serif;fill:#39424e}.n{font-size:10px}</style>
<rect width="440" height="470" fill="#fff"/>
<text x="%.0f" y="22" style="font-weight:600">Right answers by confidence, %d question votes</text>
`, left, len(outcomes))
	for i := 0; i <= bins; i += 2 {
		v := float64(i) / bins
		fmt.Fprintf(&b, `<path d="M%.1f %.1fH%.1f" stroke="#e3e7ec"/><text x="%.1f" y="%.1f" text-anchor="end">%d %%</text>`+
			`<text x="%.1f" y="%.1f" text-anchor="middle">%.1f</text>`+"\n", x(0), y(v), x(1), x(0)-6, y(v)+4, 10*i, x(v),
			y(0)+18, v)
	}
	for i := range bins {
		if n[i] == 0 {
			continue
		}
		p, at := right[i]/n[i], float64(i)/bins
		z, m := 1.96, n[i]
		mid, half := (p+z*z/(2*m))/(1+z*z/m), z/(1+z*z/m)*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
		fmt.Fprintf(&b,
			`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="#7fa8d9"><title>confidence %.2f in the mean, %.1f of %.0f right</title></rect>`+
				`<path d="M%.1f %.1fV%.1f" stroke="#22303f" stroke-width="1.5"/><text class="n" x="%.1f" y="%.1f" text-anchor="middle">%.0f</text>`+"\n",
			x(at)+2, y(p), side/bins-4, y(0)-y(p), sure[i]/m, right[i], m, x(at+.05), y(mid-half), y(mid+half), x(at+.05),
			y(0)-6, m)
	}
	fmt.Fprintf(&b, `<path d="M%.1f %.1fL%.1f %.1f" stroke="#b3541e" stroke-dasharray="4 4" fill="none"/>
<text x="%.1f" y="%.1f" text-anchor="middle">confidence; dashed: as often right as sure</text>
</svg>
`, x(0), y(0), x(1), y(1), left+side/2, y(0)+42)
	return b.String()
}
