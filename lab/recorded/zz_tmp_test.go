package recorded_test
import ("testing";"os";"bufio";"encoding/json";"database/sql";"strings"
_ "github.com/mattn/go-sqlite3"
"github.com/texttosql/texttosql/replies";"github.com/texttosql/texttosql/sqltext")
func TestZZ(t *testing.T){
 f,_:=os.Open("/work/shared/reports/llm/cases/replies.jsonl"); s:=bufio.NewScanner(f); s.Buffer(nil,1<<20)
 n:=0
 for s.Scan(){ var c struct{ID,Reply,Schema string; Ended bool}; json.Unmarshal(s.Bytes(),&c)
  db,_:=sql.Open("sqlite3",":memory:"); db.SetMaxOpenConns(1); db.Exec(c.Schema)
  reply:=c.Reply
  if strings.Contains(reply,"<<") { continue }
  for _,ended:=range []bool{false,true}{
  x:=replies.Extractor{Ended:ended}
  x.Valid=func(st *sqltext.Statement)bool{ p,err:=db.Prepare(st.SQL()); if err==nil{p.Close()}; return err==nil}
  x.Extract(reply); x.Valid=nil; x.Extract(reply)}
  n++
 }
 t.Log(n)
}
