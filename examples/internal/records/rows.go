package records

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/input"
)

// table is a format with a line of column names.
type table struct {
	name    string
	columns []string // all must be there
	// names are other names of columns, by the name in columns or in read; nil: there are none.
	names map[string][]string
	// check refuses a table whose columns do not go together, and says what is not there; nil: all do.
	check func(*collector, map[string]int) error
	read  func(*row) (j Job, ok bool)
	// spares says that an odd row is left out and named, where other formats refuse the file.
	spares bool
	want   string // how to get it; empty: the columns say enough
}

// tables are the formats with commas, by the columns that only they have.
var tables = []table{classes, pods, helios, plain}

// maxRow bounds a row, and what is before it.
const maxRow = 1 << 20

var errLong = fmt.Errorf("more than %d MiB in one row", maxRow>>20)

// cells returns the next row of a table, and its line. What it returns holds until the next call.
type cells func() (fields []string, line int, err error)

// commas reads rows with commas and quotes.
func commas(in io.Reader) cells {
	rows := &boundedRows{in: in}
	reader := csv.NewReader(rows)
	reader.ReuseRecord, reader.FieldsPerRecord = true, -1
	last := 0
	return func() ([]string, int, error) {
		rows.limit = reader.InputOffset() + maxRow
		fields, err := reader.Read()
		var at *csv.ParseError
		switch {
		case rows.tooLong:
			return nil, last + 1, errLong
		case errors.As(err, &at):
			last = at.Line
			return nil, at.Line, at.Err
		case err != nil:
			return nil, last + 1, err
		}
		last, _ = reader.FieldPos(0)
		return fields, last, nil
	}
}

// split returns how rows with a separator and without quotes are read. What follows a row that is too long can be read.
func split(separator byte) func(io.Reader) cells {
	return func(in io.Reader) cells {
		lines := bufio.NewReaderSize(in, maxRow)
		n, ends := 0, false // sacct --parsable ends each line with a separator
		return func() ([]string, int, error) {
			for {
				text, err := lines.ReadSlice('\n')
				if n++; errors.Is(err, bufio.ErrBufferFull) {
					for errors.Is(err, bufio.ErrBufferFull) {
						_, err = lines.ReadSlice('\n')
					}
					return nil, n, errLong
				}
				line := strings.TrimSpace(string(text))
				switch {
				case line == "" && err == nil:
					continue
				case line == "" || err != nil && !errors.Is(err, io.EOF):
					return nil, n, err
				case n == 1:
					ends = strings.HasSuffix(line, string(separator))
				}
				if ends {
					line = strings.TrimSuffix(line, string(separator))
				}
				return strings.Split(line, string(separator)), n, nil
			}
		}
	}
}

// boundedRows fails when more is read than the limit.
type boundedRows struct {
	in          io.Reader
	read, limit int64
	tooLong     bool
}

func (b *boundedRows) Read(p []byte) (int, error) {
	if b.read >= b.limit {
		b.tooLong = true
		return 0, errLong
	}
	n, err := b.in.Read(p)
	b.read += int64(n)
	return n, err
}

// readRows reads a table of one of the formats. What keeps it from reading on is the error; other faults are kept.
func readRows(in io.Reader, by func(io.Reader) cells, c *collector, formats ...table) error {
	next := by(in)
	header, line, err := next()
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("line 1: there is no header")
	case err != nil:
		return fmt.Errorf("line %d: %w", line, err)
	}
	named := map[string]int{}
	for i, name := range header {
		name = strings.ToLower(strings.TrimSpace(name))
		if _, twice := named[name]; twice && name != "" {
			return fmt.Errorf("line %d: the column %q is there twice", line, name)
		}
		named[name] = i
	}
	var is *table
	var columns map[string]int
	for i := range formats {
		if columns, err = formats[i].resolve(named); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		if columns != nil {
			is = &formats[i]
			break
		}
	}
	switch foreign := how(named); {
	case is == nil && len(formats) == 1 && formats[0].spares:
		return fmt.Errorf("line %d: the columns are not those of sacct: %s", line, formats[0].want)
	case foreign != "" && (is == nil || !is.spares):
		return fmt.Errorf("line %d: the columns are those of sacct, the form is another%s", line, foreign)
	case is == nil:
		return fmt.Errorf("line %d: the columns are of no known format: want %s", line, known(formats))
	}
	c.Format, c.spares = is.name, is.spares
	_, ranked := columns["priority"]
	c.Unranked = !ranked
	if is.check != nil {
		if err := is.check(c, columns); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
	header = slices.Clone(header) // the reader uses it again
	for {
		fields, line, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		c.line = line
		switch {
		case is.spares && errors.Is(err, errLong):
			c.leaveOut("a row", line, err.Error())
			continue
		case errors.Is(err, errLong):
			return fmt.Errorf("line %d: %w", line, err)
		case err != nil:
			if c.faults.add("line %d: %v", line, err); c.more > 0 {
				return nil // what follows an open quote is no more to be trusted
			}
			continue
		case len(fields) != len(header) && is.spares:
			c.leaveOut("a number of fields", line, fmt.Sprintf("%d, the header has %d", len(fields), len(header)))
			continue
		case len(fields) != len(header):
			c.faults.add("line %d: wrong number of fields: %d, the header has %d", line, len(fields), len(header))
			continue
		}
		r := row{collector: c, header: header, fields: fields, columns: columns}
		r.take(is.read(&r))
	}
}

// resolve returns the columns by the names that the format has for them; nil: it is not of this format.
func (t *table) resolve(named map[string]int) (map[string]int, error) {
	columns := map[string]int{}
	for name, i := range named {
		columns[name] = i
	}
	for name, others := range t.names {
		var have []string
		for _, other := range append([]string{name}, others...) {
			if i, ok := named[other]; ok {
				columns[name] = i
				have = append(have, other)
			}
		}
		if len(have) > 1 {
			return nil, fmt.Errorf("the columns %s say the same: leave one", strings.Join(have, " and "))
		}
	}
	for _, name := range t.columns {
		if _, ok := columns[name]; !ok {
			return nil, nil
		}
	}
	return columns, nil
}

func known(formats []table) string {
	var list []string
	for _, f := range formats {
		list = append(list, strings.Join(f.columns, ",")+" ("+f.name+")")
	}
	return strings.Join(list, "; or ")
}

// how says by which command a table comes that has columns of sacct, but not its form; empty: it has none.
func how(named map[string]int) string {
	for _, column := range []string{"alloctres", "reqtres", "elapsedraw"} {
		if _, has := named[column]; has {
			return ": " + wantSacct
		}
	}
	return ""
}

// Columns reads other columns of a file with a header, each row once all of them are there.
func Columns(path string, names []string, each func(text func(string) string, number func(column string, least, most int64) int64)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := input.Text(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	c := newCollector(path)
	err = readRows(text, commas, c, table{name: "quotas", columns: names, read: func(r *row) (Job, bool) {
		each(r.text, r.number)
		return Job{}, false
	}})
	if err != nil && strings.Contains(err.Error(), "no known format") {
		err = fmt.Errorf("line 1: there is no column %s", strings.Join(names, " or "))
	}
	if err != nil {
		c.faults.add("%s", err)
	}
	return c.faults.err(path)
}
