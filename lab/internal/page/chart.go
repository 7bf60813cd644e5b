package page

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
)

// sampling collects SVG. Text from outside must go through the method text.
type sampling struct {
	strings.Builder
}

func (d *sampling) begin(width, height int, label string) {
	fmt.Fprintf(d, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`, width, height, html.EscapeString(label))
}

func (d *sampling) end() template.HTML {
	d.WriteString("</svg>")
	return template.HTML(d.String())
}

func (d *sampling) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(d, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

func (d *sampling) dot(class string, x, y, r float64, title string) {
	fmt.Fprintf(d, `<circle class="%s" cx="%.1f" cy="%.1f" r="%.1f"><title>%s</title></circle>`, class, x, y, r, html.EscapeString(title))
}

// text places text; anchor is start, middle or end.
func (d *sampling) text(class, anchor string, x, y float64, text string) {
	fmt.Fprintf(d, `<text class="%s" text-anchor="%s" x="%.1f" y="%.1f">%s</text>`, class, anchor, x, y, html.EscapeString(text))
}

func (d *sampling) path(class string, points [][2]float64) {
	d.WriteString(`<path class="` + class + `" d="`)
	for i, p := range points {
		letter := "L"
		if i == 0 {
			letter = "M"
		}
		fmt.Fprintf(d, "%s%.1f %.1f", letter, p[0], p[1])
	}
	d.WriteString(`"/>`)
}

// scale maps values to a stretch of the sampling.
type scale struct{ low, high, from, to float64 }

func (s scale) at(x float64) float64 {
	if s.high <= s.low {
		return (s.from + s.to) / 2
	}
	return s.from + (min(max(x, s.low), s.high)-s.low)/(s.high-s.low)*(s.to-s.from)
}

// ticks returns about n round values inside a scale.
func (s scale) ticks(n int) []float64 {
	span := s.high - s.low
	if span <= 0 {
		return []float64{s.low}
	}
	step := math.Pow(10, math.Floor(math.Log10(span/float64(n))))
	for _, m := range []float64{1, 2, 5, 10} {
		if span/(step*m) <= float64(n) {
			step *= m
			break
		}
	}
	var at []float64
	for k := math.Ceil(s.low/step - 1e-9); k*step <= s.high+step*1e-9; k++ {
		at = append(at, k*step)
	}
	return at
}

// number writes x with at most three places. Adding 0 turns −0 into 0.
func number(x float64) string {
	return strconv.FormatFloat(math.Round(x*1000)/1000+0, 'f', -1, 64)
}

func percent(x float64) string { return strconv.FormatFloat(100*x, 'f', 1, 64) + " %" }

// roundPercent writes the round percentages of an axis.
func roundPercent(x float64) string { return number(100*x) + " %" }

// axes samples a frame with ticks; x and y name the axes.
func (d *sampling) axes(x, y scale, nameX, nameY string, tick func(float64) string) {
	for _, t := range y.ticks(5) {
		d.line("grid", x.from, y.at(t), x.to, y.at(t))
		d.text("soft", "end", x.from-6, y.at(t)+4, tick(t))
	}
	for _, t := range x.ticks(5) {
		d.line("grid", x.at(t), y.from, x.at(t), y.from+4)
		d.text("soft", "middle", x.at(t), y.from+18, number(t))
	}
	d.line("axis", x.from, y.from, x.to, y.from)
	d.line("axis", x.from, y.from, x.from, y.to)
	d.text("soft", "middle", (x.from+x.to)/2, y.from+36, nameX)
	d.text("soft", "start", 2, y.to-14, nameY)
}

// Point is one way to answer, with its cost and its accuracy.
type Point struct {
	Name      string
	Cost      float64
	Right     float64 // 0..1
	Low, High float64 // interval of Right
	Marked    bool
}

// CostChart samples accuracy against cost.
func CostChart(title, note, cost string, points []Point) Figure {
	f := Figure{Title: title, Note: note}
	if len(points) == 0 {
		return f
	}
	low, high, most := 1.0, 0.0, 0.0
	for _, p := range points {
		low, high, most = min(low, p.Right), max(high, p.Right), max(most, p.Cost)
	}
	pad := max((high-low)*0.08, 0.005)
	height := max(300, 16*len(points)+80)
	x := scale{0, most * 1.05, 56, 250}
	y := scale{max(low-pad, 0), min(high+pad, 1), float64(height) - 46, 28}
	var d sampling
	d.begin(410, height, title)
	d.axes(x, y, cost, "right", roundPercent)

	// The names stand in a column beside the plot, in the order of the points, without overlaps.
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch a, b := points[i].Right, points[j].Right; {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	at := make([]float64, len(order))
	for rank, i := range order {
		at[rank] = y.at(points[i].Right)
		if rank > 0 {
			at[rank] = max(at[rank], at[rank-1]+16)
		}
	}
	for rank, bottom := len(at)-1, y.from; rank >= 0; rank-- {
		at[rank] = min(at[rank], bottom)
		bottom = at[rank] - 16
	}
	for rank, i := range order {
		d.line("lead", x.at(points[i].Cost), y.at(points[i].Right), 258, at[rank])
	}
	for _, marked := range []bool{false, true} { // marked points are sampled above the others
		for rank, i := range order {
			p := points[i]
			if p.Marked != marked {
				continue
			}
			class, name := "a", ""
			if p.Marked {
				class, name = "b", "marked"
			}
			d.dot(class, x.at(p.Cost), y.at(p.Right), 4, fmt.Sprintf("%s: %s right (%s to %s), %s: %s", p.Name, percent(p.Right), percent(p.Low), percent(p.High), cost, number(p.Cost)))
			d.text(name, "start", 262, at[rank]+4, p.Name)
		}
	}
	f.chart = d.end()
	return f
}

// Bin holds the questions of about the same confidence.
type Bin struct {
	Confidence float64
	Right      float64
	Low, High  float64 // interval of Right
	N          int
}

// Reliability samples how often the answers of each confidence are right.
func Reliability(title, note string, bins []Bin) Figure {
	x, y := scale{0, 1, 56, 385}, scale{0, 1, 310, 28}
	var d sampling
	d.begin(400, 356, title)
	d.axes(x, y, "confidence", "right", roundPercent)
	d.line("diagonal", x.at(0), y.at(0), x.at(1), y.at(1))
	most := 1
	for _, b := range bins {
		most = max(most, b.N)
	}
	for _, b := range bins {
		if b.N == 0 {
			continue
		}
		d.line("a", x.at(b.Confidence), y.at(b.Low), x.at(b.Confidence), y.at(b.High))
		d.dot("a", x.at(b.Confidence), y.at(b.Right), 3+7*math.Sqrt(float64(b.N)/float64(most)),
			fmt.Sprintf("confidence %.2f: %s of %d right", b.Confidence, percent(b.Right), b.N))
	}
	return Figure{Title: title, Note: note, chart: d.end()}
}

// Curve is a line of a chart.
type Curve struct {
	Name   string
	Points [][2]float64
}

// classes distinguish up to three series by colour and by dashes.
var classes = [...]string{"a", "b", "c"}

// Risk samples the share of wrong answers when only the surest answers are given.
func Risk(title, note string, curves []Curve) Figure {
	most := 0.05
	for _, c := range curves {
		for _, p := range c.Points {
			if p[0] >= 0.05 { // the curve of the first few answers jumps
				most = max(most, p[1])
			}
		}
	}
	x, y := scale{0, 1, 56, 385}, scale{0, most * 1.1, 310, 28}
	var d sampling
	d.begin(400, 356, title)
	d.axes(x, y, "share of questions answered", "wrong among them", roundPercent)
	for i, c := range curves {
		var points [][2]float64
		for _, p := range c.Points {
			points = append(points, [2]float64{x.at(p[0]), y.at(p[1])})
		}
		d.path(classes[i%len(classes)]+"-line", points)
	}
	chart := d.end()
	var names []string
	for _, c := range curves {
		names = append(names, c.Name)
	}
	return Figure{Title: title, Note: note, chart: chart + legend(names)}
}

func legend(names []string) template.HTML {
	var b strings.Builder
	b.WriteString(`<div class="legend">`)
	for i, name := range names {
		fmt.Fprintf(&b, `<span><i class="%s"></i>%s</span>`, classes[i%len(classes)], html.EscapeString(name))
	}
	b.WriteString("</div>")
	return template.HTML(b.String())
}

// Bar is one group with a share for each series.
type Bar struct {
	Name   string
	Shares []float64 // 0..1, by series
	Note   string    // "of 25"
}

// Bars samples shares by group.
func Bars(title, note string, series []string, bars []Bar) Figure {
	var b strings.Builder
	if len(series) > 1 {
		b.WriteString(string(legend(series)))
	}
	b.WriteString(`<div class="bars">`)
	for _, bar := range bars {
		shares := make([]string, len(bar.Shares))
		for i, s := range bar.Shares {
			shares[i] = percent(s)
		}
		words := strings.TrimSpace(strings.Join(shares, ", ") + " " + bar.Note)
		fmt.Fprintf(&b, `<span class="name">%s</span><span class="words">%s</span>`, html.EscapeString(bar.Name), html.EscapeString(words))
		// Stretched across: only the width of the bars follows the screen.
		var d sampling
		fmt.Fprintf(&d, `<svg role="img" aria-label="%s">`, html.EscapeString(words))
		d.WriteString(`<rect class="ground" width="100%" height="100%"/>`)
		h := 100 / float64(max(len(bar.Shares), 1))
		for i, s := range bar.Shares {
			fmt.Fprintf(&d, `<rect class="%s" y="%.1f%%" width="%.2f%%" height="%.1f%%"/>`, classes[i%len(classes)], h*float64(i)+h*0.06, 100*min(max(s, 0), 1), h*0.88)
		}
		b.WriteString(string(d.end()))
	}
	b.WriteString("</div>")
	return Figure{Title: title, Note: note, Wide: true, chart: template.HTML(b.String())}
}
